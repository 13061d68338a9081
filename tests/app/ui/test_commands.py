"""What the page may ask for, and nothing else."""

import pytest

from app.ui.commands import OpenEntry, Rate, read_command
from pipelines.errors import BadInput


def test_reads_a_place():
    command = read_command('{"do": "open", "entry": "pv-sv-05", "section": "§ 1", "spans": "0-12,80-95"}')
    assert command == OpenEntry(do="open", entry="pv-sv-05", section="§ 1", spans="0-12,80-95")
    assert command.ranges() == ((0, 12), (80, 95))


def test_reads_a_rating():
    assert read_command('{"do": "rate", "request": "r1", "thumb": "down"}') == Rate(do="rate", request="r1", thumb="down")


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "null",
        "{}",
        '{"do": "delete", "entry": "pv-sv-05"}',
        '{"do": "open", "entry": ""}',
        '{"do": "open", "entry": "x", "spans": "-1-5"}',
        '{"do": "open", "entry": "x", "spans": "1-5;2"}',
        '{"do": "open", "entry": "x", "more": 1}',
        '{"do": "rate", "request": "r1", "thumb": "left"}',
        '{"do": "again", "question": "x", "model": "qwen3.8:cloud"}',
    ],
)
def test_refuses_everything_else(raw: str):
    with pytest.raises(BadInput):
        read_command(raw)
