"""The job `evaluation`: retrieval of the served index version over goldsets, and what differs from the version before."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.engine import Engine
from evaluation.goldset import Goldset, entry_texts, load_goldsets
from evaluation.retrieval import Found, RetrievalReport, evaluate_retrieval
from pipelines.errors import BadInput, IndexFault
from pipelines.index import IndexLayout, Progress
from pipelines.intake import read_question
from pipelines.jobs import Job

GOLDSET_DIR = Path(__file__).resolve().parent.parent / "evaluation" / "goldsets"
DEFAULT_SETS = ("sv", "lst", "arb", "kvrj", "hard")
FIRST_ENTRIES = 8
RETRIEVED_FOR_RANKS = 40
_FIGURES = ("recall_at_k", "hit_rate", "mrr", "ndcg_at_k")


class VersionEvaluator:
    """Evaluates the served index version and the one before it.

    Args:
        layout: where index versions lie.
        open_engine: opens an index version by name.
    """

    def __init__(self, layout: IndexLayout, open_engine: Callable[[str], Engine]) -> None:
        self._layout = layout
        self._open_engine = open_engine

    def __call__(self, job: Job, progress: Progress) -> dict[str, object]:
        """The figures of the served version, those of the one before it, and what differs, as JSON values.

        The argument `goldset` names a file; without it the bundled sets are asked.

        Raises:
            BadInput: a goldset cannot be read, or does not fit what is served.
            IndexFault: the served version cannot be opened.
        """
        now = self._measured(self._layout.require_current(), _paths(job), progress)
        previous = self._layout.previous()
        before: RetrievalReport | None = None
        if previous is not None:
            try:
                before = self._measured(previous, _paths(job), progress)
            except (BadInput, IndexFault) as exc:
                # The version before may lack entries that the goldset asks for, or belong to another embedding model.
                return {**_figures(now), "before": None, "not_compared": str(exc)[:500]}
        return {**_figures(now), "before": None if before is None else _figures(before), **_difference(now, before)}

    def _measured(self, version: str, paths: Sequence[Path], progress: Progress) -> RetrievalReport:
        engine = self._open_engine(version)
        with engine.index:
            goldset = load_goldsets(paths, entry_texts(engine.index.nodes))
            return _evaluated(engine, goldset, version, progress)


def _evaluated(engine: Engine, goldset: Goldset, version: str, progress: Progress) -> RetrievalReport:
    done = 0

    def retrieve(question: str) -> list[Found]:
        nonlocal done
        progress("evaluate", done, len(goldset.items))
        done += 1
        nodes = engine.retriever.retrieve_plan(engine.planner.plan(read_question(question)), limit=RETRIEVED_FOR_RANKS).nodes
        return [Found(found.node.metadata["entry_id"], found.node.metadata["section"]) for found in nodes]

    return evaluate_retrieval(retrieve, goldset.items, FIRST_ENTRIES, goldset_version=goldset.version, index_version=version)


def _paths(job: Job) -> list[Path]:
    wanted = job.arguments.get("goldset")
    return [Path(str(wanted))] if wanted else [GOLDSET_DIR / f"{name}.yaml" for name in DEFAULT_SETS]


def _figures(report: RetrievalReport) -> dict[str, object]:
    figures: dict[str, object] = {name: round(getattr(report, name), 4) for name in _FIGURES}
    return {
        "index_version": report.index_version,
        "goldset_version": report.goldset_version,
        "questions": report.questions,
        **figures,
    }


def _difference(now: RetrievalReport, before: RetrievalReport | None) -> dict[str, object]:
    if before is None:
        return {}
    recall: Mapping[str, float] = {question.id: question.recall for question in before.per_question}
    changed = [
        {"id": question.id, "question": question.question, "before": recall[question.id], "now": question.recall}
        for question in now.per_question
        if question.id in recall and recall[question.id] != question.recall
    ]
    return {
        "difference": {name: round(getattr(now, name) - getattr(before, name), 4) for name in _FIGURES},
        "changed_questions": changed,
    }
