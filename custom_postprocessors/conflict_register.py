"""The conflicts of one index version, looked up by the entries they concern."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from custom_postprocessors.evidence import Conflict


class Register:
    """A `ConflictRegister` over a fixed list; dismissed conflicts are left out. Safe for many threads."""

    def __init__(self, conflicts: Iterable[Conflict]) -> None:
        self._conflicts = tuple(conflict for conflict in conflicts if conflict.status != "dismissed")
        self._of_entry: dict[str, list[int]] = defaultdict(list)
        for position, conflict in enumerate(self._conflicts):
            for entry_id in {side.entry_id for side in conflict.sides}:
                self._of_entry[entry_id].append(position)

    def touching(self, entry_ids: Sequence[str]) -> tuple[Conflict, ...]:
        """Conflicts with at least one side in one of these entries, in the register's order."""
        positions = {position for entry_id in entry_ids for position in self._of_entry.get(entry_id, ())}
        return tuple(self._conflicts[position] for position in sorted(positions))
