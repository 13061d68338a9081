"""Labelled pairs for the verifier: true claims, and what a lying model makes of them, one kind of lie at a time.

Everything is derived from the knowledge base and `data/true_claims.yaml` in a fixed order; nothing is random.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.evidence import DraftClaim, Frozen
from evaluation.lies import LIES
from evaluation.statements import Base, Neighbours, statements
from pipelines.nodes import SectionNode

TRUE_CLAIMS = Path(__file__).parent / "data" / "true_claims.yaml"

_PER_KIND = 240


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A drafted claim with the sections given to the model; `kind` is `true` or the kind of lie.

    `held_out` pairs are never used to choose a threshold; the split is by the cited entry. `seen` ones were looked at while
    the rules were written and count to the other half, whatever their entry.
    """

    kind: str
    draft: DraftClaim
    node_ids: tuple[str, ...]
    question: str = ""
    seen: bool = False

    @property
    def held_out(self) -> bool:
        """Half of the entries, by a hash of their id, without what was seen."""
        if self.seen:
            return False
        entry = self.node_ids[0].partition("#")[0]
        return hashlib.sha256(entry.encode()).digest()[0] % 2 == 1


def labelled_claims(nodes: Sequence[SectionNode], path: Path = TRUE_CLAIMS) -> tuple[LabelledClaim, ...]:
    """All pairs of the suite, true claims first, then the lies, at most 240 of a kind."""
    by_id = {node.node_id: node for node in nodes}
    written = [Base(text, by_id[one.cite], written=True, seen=one.seen) for one in _read(path) for text in one.claims]
    bases = [*written, *statements(nodes)]
    found = [
        LabelledClaim("true", DraftClaim(base.text, (base.node.node_id,)), (base.node.node_id,), seen=base.seen)
        for base in written
    ]
    others = Neighbours(nodes)
    seen = {one.cite for one in _read(path) if one.seen}
    for kind, lies in LIES.items():
        found.extend(
            _spread(
                LabelledClaim(kind, draft, ids, question, seen=not seen.isdisjoint(ids))
                for draft, ids, question in lies(bases, others)
            )
        )
    return tuple(found)


class _Written(Frozen):
    """One item of `data/true_claims.yaml`."""

    cite: str
    claims: tuple[str, ...]
    seen: bool = False


def _read(path: Path) -> tuple[_Written, ...]:
    return TypeAdapter(tuple[_Written, ...]).validate_python(read_yaml(path))


def _spread(claims: Iterable[LabelledClaim]) -> list[LabelledClaim]:
    """At most `_PER_KIND` of them, evenly over the whole."""
    items = list(claims)
    step = max(1, len(items) // _PER_KIND)
    return items[::step][:_PER_KIND]
