"""The rows of „Kernwerte & Fristen“ as facts, with their place in the section and the time in which they hold."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from custom_postprocessors.evidence import Fact
from pipelines.entry_schema import KEY_VALUE_COLUMNS, KEY_VALUES
from pipelines.nodes import SectionNode
from pipelines.tables import Row, find_tables
from pipelines.validity import read_remarks, read_validity

__all__ = ["facts_of", "read_validity", "unread_validities"]


def facts_of(node: SectionNode) -> tuple[Fact, ...]:
    """The facts of a section in order of its rows; none for other sections than „Kernwerte & Fristen“.

    A row with too few or too many cells, without quantity or value, or that speaks to a model, is no fact. A remark with a
    value in „Gültig“ is a second fact of the same row and has the same place: `start`/`end` are the row in the section's
    text. Fact ids are `<node id>/<row>` and `<node id>/<row>.<remark>`, both counted from 1.
    """
    if node.section != KEY_VALUES:
        return ()
    return tuple(fact for number, row in enumerate(_rows(node), start=1) for fact in _row_facts(node, number, row))


def unread_validities(facts: Iterable[Fact]) -> tuple[str, ...]:
    """The „Gültig“ texts that say something a program does not read, each once, in order. Conditions are not among them."""
    return tuple(
        dict.fromkeys(
            fact.validity.raw
            for fact in facts
            if fact.validity.raw and not fact.validity.known and fact.validity.condition is None
        )
    )


def _rows(node: SectionNode) -> Iterator[Row]:
    for table in find_tables(node.text):
        if table.header.cells == KEY_VALUE_COLUMNS and table.delimited:
            for row in table.rows:
                complete = len(row.cells) == len(KEY_VALUE_COLUMNS) and row.cells[0] and row.cells[1]
                if complete and not any(start < row.end and row.start < end for start, end in node.instruction_spans):
                    yield row


def _row_facts(node: SectionNode, number: int, row: Row) -> Iterator[Fact]:
    quantity, value, valid, basis = row.cells
    fact = Fact(
        fact_id=f"{node.node_id}/{number}",
        node_id=node.node_id,
        entry_id=node.entry_id,
        section=node.section,
        stand=node.stand,
        quantity=quantity,
        value=value,
        valid=valid,
        basis=basis,
        start=row.start,
        end=row.end,
        validity=read_validity(valid),
    )
    yield fact
    for place, remark in enumerate(read_remarks(valid), start=1):
        yield replace(fact, fact_id=f"{fact.fact_id}.{place}", value=remark.value, valid=remark.valid, validity=remark.validity)
