from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.database import Database
from app.store.documents import Change
from app.store.endpoints import Endpoints
from pipelines.errors import BadInput, NotFound

ADMIN = Change("otto", "neuer Rechner")


@pytest.fixture
def endpoints(tmp_path: Path) -> Iterator[Endpoints]:
    database = Database(tmp_path)
    yield Endpoints(database)
    database.close()


def test_a_changed_endpoint_is_a_new_version_and_the_settings_are_the_default(endpoints: Endpoints) -> None:
    assert endpoints.active() is None
    endpoints.add("gpu", "http://10.0.0.5:11434/", ADMIN, model="qwen3.8:27b")
    assert endpoints.active() is None
    endpoints.activate("gpu", ADMIN)
    endpoints.add("gpu", "https://gpu.example:443", ADMIN)
    active = endpoints.active()
    assert active is not None
    assert (active.label, active.url, active.model) == ("gpu@1", "http://10.0.0.5:11434", "qwen3.8:27b")
    assert [(e.label, e.active) for e in endpoints.list()] == [("gpu@2", False), ("gpu@1", True)]
    endpoints.activate("gpu", ADMIN)
    endpoints.activate("standard", ADMIN)
    assert endpoints.active() is None
    assert [step.label for step in endpoints.history()] == ["standard", "gpu@2", "gpu@1"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gpu:11434",
        "ftp://gpu",
        "file:///etc/passwd",
        "http://",
        "http://anna:geheim@gpu:11434",
        "http://@gpu",
        "http://gpu:11434/?key=geheim",
        "http://gpu#x",
        "http://gpu/?",
        "http://g pu",
        "http://gpu:99999",
        "http://gpu:0",
        "http://gpu\\@evil",
        "http://" + "g" * 300,
    ],
)
def test_an_address_that_is_no_plain_server_is_refused_without_repeating_it(endpoints: Endpoints, url: str) -> None:
    with pytest.raises(BadInput) as error:
        endpoints.add("gpu", url, ADMIN)
    assert "geheim" not in str(error.value)
    assert endpoints.list() == ()


@pytest.mark.parametrize("name", ["", "Standard", "a@b", "x" * 41, "a\x00"])
def test_an_unusable_name_is_refused(endpoints: Endpoints, name: str) -> None:
    with pytest.raises(BadInput, match="name"):
        endpoints.add(name, "http://gpu", ADMIN)


def test_a_cloud_model_is_refused(endpoints: Endpoints) -> None:
    with pytest.raises(BadInput, match="cloud"):
        endpoints.add("gpu", "http://gpu", ADMIN, model="qwen3.8:cloud")


def test_what_does_not_exist_is_named(endpoints: Endpoints) -> None:
    with pytest.raises(NotFound, match="'gpu'"):
        endpoints.activate("gpu", ADMIN)
    endpoints.add("gpu", "http://gpu", ADMIN)
    with pytest.raises(NotFound, match="version 2"):
        endpoints.activate("gpu", ADMIN, 2)
