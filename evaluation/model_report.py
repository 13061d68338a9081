"""One model's part of a bake-off, and the whole of it, as they are written to `report.json`."""

from collections.abc import Sequence
from datetime import datetime

from custom_postprocessors.evidence import Frozen
from evaluation.answer_metrics import SectionTexts
from evaluation.answers import AnsweredQuestion, AnswersReport, answers_report
from evaluation.decision import Decision, decide
from evaluation.goldset import Goldset
from evaluation.records import QuestionRecord
from evaluation.runs import ModelMemory, RunManifest


class ModelReport(AnswersReport):
    """A model's answers, which model it was exactly, and what it took in memory (None: it was not loaded or not told)."""

    name: str
    digest: str | None
    prompt_version: str | None
    options: dict[str, str | int | float | bool]
    memory: ModelMemory | None = None

    def question(self, question_id: str) -> AnsweredQuestion | None:
        """What came of one question, or None."""
        return next((one for one in self.per_question if one.id == question_id), None)


class BakeoffReport(Frozen):
    """A finished run: every model, the decision, and what was measured; `record` is the file name of the decision record."""

    run_id: str
    created_at: datetime
    models: tuple[ModelReport, ...]
    decision: Decision
    record: str
    goldset_version: str
    index_version: str
    manifest: RunManifest
    vram_budget_gb: float

    def model(self, name: str) -> ModelReport | None:
        """The part of one model, or None."""
        return next((model for model in self.models if model.name == name), None)

    @property
    def over_budget(self) -> tuple[str, ...]:
        """The models that took more memory than the budget."""
        return tuple(
            model.name
            for model in self.models
            if model.memory is not None and model.memory.size_vram_bytes > self.vram_budget_gb * 1e9
        )


def bakeoff_report(
    manifest: RunManifest,
    goldset: Goldset,
    records: Sequence[QuestionRecord],
    memory: dict[str, ModelMemory],
    sections: SectionTexts,
    *,
    record: str,
    vram_budget_gb: float,
) -> BakeoffReport:
    """The report over the records of a run; models in the order of the run."""
    models = tuple(
        _model_report(
            goldset,
            [one for one in records if one.model == contestant.name],
            sections,
            manifest.index_version,
            contestant.name,
            contestant.digest,
            memory.get(contestant.name),
        )
        for contestant in manifest.models
    )
    return BakeoffReport(
        run_id=manifest.run_id,
        created_at=manifest.created_at,
        models=models,
        decision=decide(models),
        record=record,
        goldset_version=manifest.goldset_version,
        index_version=manifest.index_version,
        manifest=manifest,
        vram_budget_gb=vram_budget_gb,
    )


def _model_report(
    goldset: Goldset,
    records: Sequence[QuestionRecord],
    sections: SectionTexts,
    index_version: str,
    name: str,
    digest: str | None,
    memory: ModelMemory | None,
) -> ModelReport:
    answers = answers_report(goldset, records, sections, index_version=index_version)
    info = next((one.outcome.model for one in records if one.outcome is not None and one.outcome.model.name != "none"), None)
    return ModelReport(
        **{field: getattr(answers, field) for field in AnswersReport.model_fields},
        name=name,
        digest=digest,
        prompt_version=info.prompt_version if info else None,
        options=dict(info.options) if info else {},
        memory=memory,
    )
