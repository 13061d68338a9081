"""Requests made up from the OpenAPI document, valid and not: no defect, and no answer that the document does not name."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import SecretStr
from schemathesis import GenerationMode
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.api.application import make_api
from app.settings import Settings
from tests.app.api.conftest import serve
from tests.app.api.port import Port

pytestmark = pytest.mark.load
SERVICE, ADMIN = "service-key-0001", "admin-key-0001"


def no_defect(ctx: Any, response: Any, case: Any) -> None:
    """A 503 is an answer that the document names; a 500 is a defect."""
    assert response.status_code != 500, response.text


CHECKS: tuple[CheckFunction, ...] = (
    no_defect,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
MADE_UP = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)


SCHEMA = schemathesis.openapi.from_dict(make_api().openapi())
OPERATIONS = {operation.label: operation for operation in (found.ok() for found in SCHEMA.get_all_operations())}
MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]


@pytest.fixture(scope="module")
def open_url(served) -> Iterator[str]:
    with Port(served) as port:
        yield port.url


@pytest.fixture(scope="module")
def keyed_url(small_settings) -> Iterator[str]:
    keys = {"api_key": SecretStr(SERVICE), "admin_key": SecretStr(ADMIN)}
    made = serve(Settings(**{**small_settings.model_dump(), **keys}))
    with Port(made) as port:
        yield port.url
    made.assembly.close()


def try_out(label: str, mode: GenerationMode, url: str, key: str | None, examples: int) -> list[int]:
    """The statuses of made-up requests to an operation, each checked against the document."""
    statuses: list[int] = []
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    @settings(MADE_UP, max_examples=examples)
    @given(OPERATIONS[label].as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        case.headers.pop("Authorization", None)
        response = case.call_and_validate(base_url=url, checks=CHECKS, headers=headers)
        statuses.append(response.status_code)

    run()
    return statuses


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_open_api_answers_as_documented(open_url, label, mode):
    assert try_out(label, mode, open_url, None, 20)


@pytest.mark.parametrize("key", [SERVICE, ADMIN])
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_guarded_api_answers_as_documented(keyed_url, label, key):
    assert 401 not in try_out(label, GenerationMode.POSITIVE, keyed_url, key, 8)


@pytest.mark.parametrize("label", OPERATIONS)
def test_without_a_valid_key_nothing_but_health_is_told(keyed_url, label):
    expected = {200} if label.endswith("/health") else {401}
    assert set(try_out(label, GenerationMode.POSITIVE, keyed_url, "wrong", 5)) == expected
