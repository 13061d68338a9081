"""What taking over a folder would do to the catalogue: decided entry by entry, before anything is changed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from pipelines.errors import KnowledgeBaseError

Decision = Literal["report", "take_folder", "keep_catalogue"]
Action = Literal["added", "changed", "removed", "unchanged", "diverged", "kept"]
MAX_REMOVED_SHARE = 0.2
ABSENT = "absent"
"""What `kept_hash` holds when the catalogue was preferred to a file that is gone."""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document as the catalogue knows it: hash of the active version, of what the folder brought last, of what was refused."""

    active_hash: str | None
    folder_hash: str | None
    kept_hash: str | None = None


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """The action for every entry that the folder brings now or brought before. Documents from elsewhere do not occur."""

    actions: Mapping[str, Action]

    def of(self, *wanted: Action) -> tuple[str, ...]:
        """The entries with one of these actions, in ascending order."""
        return tuple(sorted(entry_id for entry_id, action in self.actions.items() if action in wanted))


def plan_folder(
    found: Mapping[str, str], rejected: Collection[str], known: Mapping[str, KnownDocument], decision: Decision
) -> FolderPlan:
    """Compares a folder with what it brought last time.

    `found` are the content hashes of the valid entries, `rejected` the ids that a faulty file is about: what is served of
    them stays. A document that was uploaded, edited, rolled back or taken out since the folder brought it is `diverged`
    unless `decision` says who wins. Equal content is never diverged.
    """
    actions: dict[str, Action] = {}
    for entry_id, digest in found.items():
        actions[entry_id] = _found(digest, known.get(entry_id), decision)
    for entry_id, document in known.items():
        brought = document.folder_hash is not None and document.active_hash is not None
        if brought and entry_id not in found and entry_id not in rejected:
            actions[entry_id] = _missing(document, decision)
    return FolderPlan(actions)


def require_few_removals(plan: FolderPlan, known: Mapping[str, KnownDocument]) -> None:
    """Does nothing when at most 20 % of what the folder brought and is served would be removed.

    Raises:
        KnowledgeBaseError: with both numbers and the ids.
    """
    served = sum(document.folder_hash is not None and document.active_hash is not None for document in known.values())
    removed = plan.of("removed")
    if served and len(removed) > MAX_REMOVED_SHARE * served:
        named = ", ".join(removed[:10]) + (" …" if len(removed) > 10 else "")
        raise KnowledgeBaseError(
            f"{len(removed)} of {served} documents would be removed ({named}); nothing was changed.",
            hint="If that is meant, repeat with --allow-removals.",
        )


def _found(digest: str, document: KnownDocument | None, decision: Decision) -> Action:
    if document is None:
        return "added"
    if document.active_hash == digest:
        return "unchanged"
    if document.active_hash == document.folder_hash or decision == "take_folder":
        return "added" if document.active_hash is None else "changed"
    if decision == "keep_catalogue" or document.kept_hash == digest:
        return "kept"
    return "diverged"


def _missing(document: KnownDocument, decision: Decision) -> Action:
    if document.active_hash == document.folder_hash or decision == "take_folder":
        return "removed"
    if decision == "keep_catalogue" or document.kept_hash == ABSENT:
        return "kept"
    return "diverged"
