import json
from pathlib import Path

import pytest

from custom_postprocessors.entailment import EntailmentError, OnnxEntailment
from custom_postprocessors.evidence import Claim, DraftClaim, Rejected
from custom_postprocessors.verification import Verifier
from tests.custom_postprocessors.passages import StemAnalyzer, context, passage

GIVEN = context(passage("pv-sv-05", "Die Grenze beträgt 551,10 €."))
DRAFT = DraftClaim("Die Grenze beträgt 551,10 €.", ("pv-sv-05",))


class Opinion:
    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.asked: list[tuple[str, str]] = []

    def entails(self, premise: str, claim: str) -> float:
        self.asked.append((premise, claim))
        return self.probability


def test_a_second_opinion_can_reject_what_the_rules_pass_and_never_the_other_way_round() -> None:
    assert isinstance(Verifier(StemAnalyzer(), entailment=Opinion(0.9)).check(DRAFT, GIVEN, ""), Claim)
    outcome = Verifier(StemAnalyzer(), entailment=Opinion(0.1)).check(DRAFT, GIVEN, "")
    assert isinstance(outcome, Rejected)
    assert [one.kind for one in outcome.violations] == ["unsupported"]
    sure = Opinion(1.0)
    lie = DraftClaim("Die Grenze beträgt 511,10 €.", ("pv-sv-05",))
    assert isinstance(Verifier(StemAnalyzer(), entailment=sure).check(lie, GIVEN, ""), Rejected)
    assert sure.asked == []


def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(EntailmentError, match=r"has no model\.onnx, tokenizer\.json, config\.json"):
        OnnxEntailment(tmp_path)


def test_a_model_of_something_else_is_refused(tmp_path: Path) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "positive", "1": "negative"}}), encoding="utf-8")
    with pytest.raises(EntailmentError, match="names no label `entailment`"):
        OnnxEntailment(tmp_path)
