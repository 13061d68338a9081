"""What docs/api.md shows can be run as it stands, and names every address of the API."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.api.application import make_api
from app.api.edge import ALIASES
from tests.app.api.port import Port

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:7860"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


COMMANDS = [command for block in blocks("sh") for command in re.split(r"\n(?=curl )", block.strip())]


@pytest.fixture(scope="module")
def url(served) -> Iterator[str]:
    with Port(served) as port:
        yield port.url


@pytest.mark.parametrize("command", COMMANDS)
def test_the_curl_examples_run(url, command):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    shown = subprocess.run(
        ["sh", "-c", command.replace("curl ", "curl --fail-with-body ", 1).replace(ADDRESS, url)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (shown.returncode, bool(shown.stdout)) == (0, True), shown.stdout


@pytest.mark.parametrize("number", range(2))
def test_the_python_examples_run(url, number):
    code = blocks("python")[number].replace(ADDRESS, url)
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (shown.returncode, "551,10" in shown.stdout) == (0, True), shown.stderr


def test_the_example_for_odoo_is_valid_python():
    compile(blocks("python")[2], "odoo", "exec")


def test_every_address_is_named():
    paths = {re.sub(r"\{entry_id\}", "{id}", path).replace("{job_id}", "{id}") for path in make_api().openapi()["paths"]}
    named = {path.replace("{number}", "{n}") for path in paths} - set(ALIASES)
    assert {path for path in named if path not in TEXT} == set()
