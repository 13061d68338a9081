"""Asks several models the same questions over the same contexts: models outside, questions inside, resumable after a kill."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from custom_postprocessors.grounding import Ungrounded
from evaluation.goldset import GoldItem, Goldset
from evaluation.metering import Usage
from evaluation.records import QuestionRecord, answered_record
from evaluation.runs import FrozenContext, ModelMemory, RunFolder, RunManifest
from pipelines.answering import Prepared
from pipelines.contracts import Cancelled, Event
from pipelines.errors import GenerationCancelled, ModelUnavailable
from pipelines.index import Progress

RETRIEVAL_STAGE = "retrieval"


class ModelHost(Protocol):
    """Where the models run."""

    def reachable(self) -> bool:
        """Whether the server answers at all; true for a model that needs none."""
        ...

    def memory(self, model: str) -> ModelMemory | None:
        """What the model takes right now; None when it is not loaded or nobody knows."""
        ...

    def unload(self, model: str) -> None:
        """Frees the model's memory; does nothing for one that has none, and when the server is gone."""
        ...


AskModel = Callable[[Prepared, str, Usage, Cancelled], Iterable[Event]]
"""(prepared question, model, where to count its tokens, whether to stop) → the events of the answer."""


@dataclass(frozen=True, slots=True)
class Contest:
    """What a run needs of the product."""

    prepare: Callable[[str], Prepared]
    ask: AskModel
    host: ModelHost


def run_contest(contest: Contest, goldset: Goldset, manifest: RunManifest, folder: RunFolder, progress: Progress) -> bool:
    """Asks what was not yet asked, and keeps each record as soon as it is there; true when every question was.

    Each question is planned, looked up and grounded once; all models get that context. `progress` has the model's name as
    its stage. False when somebody asked the run to stop; asked while the contexts are looked up, it has not begun.

    Raises:
        BadInput: the folder is of another run, or another process is at it.
        ModelUnavailable: the models' server is gone; what was answered is kept.
        StoreError: a record could not be kept.
    """
    with folder.locked():
        prepared = _prepared(contest, goldset.items, folder, progress)
        if prepared is None:
            return False
        folder.begin(manifest, [frozen_context(item.id, prepared[item.id]) for item in goldset.items])
        done = {(record.model, record.question_id) for record in folder.records()}
        for model in (contestant.name for contestant in manifest.models):
            if not _ask_model(contest, model, goldset.items, prepared, done, folder, progress):
                return False
    return True


def frozen_context(question_id: str, prepared: Prepared) -> FrozenContext:
    """What all models are given for a question, as ids and a hash over plan, texts, facts and conflicts."""
    context = prepared.context
    if isinstance(context, Ungrounded):
        blocks: tuple[str, ...] = ()
        parts: list[object] = ["ungrounded", context.reason]
    else:
        blocks = tuple(passage.block_id for passage in context.passages)
        parts = [[p.block_id, p.node_id, p.shown_text()] for p in context.passages]
        parts += [[fact.fact_id for fact in context.facts], [conflict.id for conflict in context.conflicts]]
    text = json.dumps([prepared.plan.model_dump(mode="json"), parts], ensure_ascii=False, sort_keys=True)
    return FrozenContext(question_id=question_id, block_ids=blocks, sha256=hashlib.sha256(text.encode()).hexdigest())


def _prepared(contest: Contest, items: Sequence[GoldItem], folder: RunFolder, progress: Progress) -> dict[str, Prepared] | None:
    """The context of each question; None when the run was asked to stop."""
    prepared: dict[str, Prepared] = {}
    for number, item in enumerate(items):
        if folder.cancel_requested:
            return None
        progress(RETRIEVAL_STAGE, number, len(items))
        prepared[item.id] = contest.prepare(item.question)
    progress(RETRIEVAL_STAGE, len(items), len(items))
    return prepared


def _ask_model(
    contest: Contest,
    model: str,
    items: Sequence[GoldItem],
    prepared: dict[str, Prepared],
    done: set[tuple[str, str]],
    folder: RunFolder,
    progress: Progress,
) -> bool:
    """One model's questions; false when the run was asked to stop."""
    left = [item for item in items if (model, item.id) not in done]
    measured = model in folder.memory()
    progress(model, len(items) - len(left), len(items))
    try:
        for number, item in enumerate(left, start=len(items) - len(left) + 1):
            if folder.cancel_requested:
                return False
            try:
                folder.append(_record(contest, model, item, prepared[item.id], folder))
            except GenerationCancelled:
                return False
            if not measured and (memory := contest.host.memory(model)) is not None:
                folder.append_memory(memory)
                measured = True
            progress(model, number, len(items))
    finally:
        if left:
            contest.host.unload(model)
    return True


def _record(contest: Contest, model: str, item: GoldItem, prepared: Prepared, folder: RunFolder) -> QuestionRecord:
    usage = Usage()
    record = answered_record(
        model, item, lambda question: contest.ask(prepared, model, usage, lambda: folder.cancel_requested), usage
    )
    gone = record.outcome is not None and record.outcome.refusal_reason == "model_unavailable"
    if gone and not contest.host.reachable():
        raise ModelUnavailable(
            f"The models' server does not answer; {item.id!r} and what follows was not asked of {model!r}.",
            hint=f"When it is back: `--run {folder.path.name}` goes on where it stopped.",
        )
    return record
