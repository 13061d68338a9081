"""How well the verifier tells true claims from altered ones, per kind of lie, on pairs held out from calibration."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from scipy.stats import binomtest

from custom_postprocessors.evidence import ChannelScores, Frozen, GroundedContext, Passage, Rejected, TextAnalyzer
from custom_postprocessors.verification import Verifier
from evaluation.mutations import LabelledClaim, labelled_claims
from pipelines.nodes import SectionNode


class KindResult(Frozen):
    """Lies of one kind: how many, how many were caught, the rate in [0, 1] and its 95 % Wilson interval."""

    kind: str
    n: int
    caught: int
    rate: float
    interval: tuple[float, float]


class TrueResult(Frozen):
    """True claims that are no copies: how many, how many were wrongly rejected, rate and 95 % Wilson interval."""

    n: int
    rejected: int
    rate: float
    interval: tuple[float, float]


class VerificationReport(Frozen):
    """`kinds` and `true_claims` are of the held-out half; `calibration` says the same of the other half."""

    kinds: tuple[KindResult, ...]
    true_claims: TrueResult
    calibration: "VerificationReport | None" = None


def verification_report(nodes: Sequence[SectionNode], analyzer: TextAnalyzer) -> VerificationReport:
    """Runs the whole suite over the sections of a knowledge base; deterministic.

    The true claims are hand-written for the bundled knowledge base: their sections must be among `nodes` (KeyError else).
    """
    verifier = Verifier(analyzer)
    passages = {node.node_id: passage_of(node) for node in nodes}
    claims = labelled_claims(nodes)
    calibration = _report((claim for claim in claims if not claim.held_out), verifier, passages)
    held_out = _report((claim for claim in claims if claim.held_out), verifier, passages)
    return held_out.model_copy(update={"calibration": calibration})


def report_text(report: VerificationReport) -> str:
    """The held-out figures as lines: one per kind of lie, then the true claims."""
    lines = [
        f"{item.kind:24} {item.caught:3}/{item.n:<3} caught  {item.rate:.3f}  [{item.interval[0]:.3f}, {item.interval[1]:.3f}]"
        for item in report.kinds
    ]
    true = report.true_claims
    interval = f"[{true.interval[0]:.3f}, {true.interval[1]:.3f}]"
    return "\n".join([*lines, f"{'true claims':24} {true.rejected:3}/{true.n:<3} rejected {true.rate:.3f}  {interval}"])


def is_caught(claim: LabelledClaim, verifier: Verifier, passages: dict[str, Passage]) -> bool:
    """Whether the verifier rejects a labelled claim."""
    context = GroundedContext(tuple(passages[node_id] for node_id in claim.node_ids))
    return isinstance(verifier.check(claim.draft, context, claim.question), Rejected)


def passage_of(node: SectionNode) -> Passage:
    """A section as it is given to the model, whole."""
    return Passage(
        block_id=node.node_id,
        node_id=node.node_id,
        entry_id=node.entry_id,
        section=node.section,
        title=node.title,
        stand=node.stand,
        work=node.work,
        topic=node.topic,
        text=node.text,
        shown=((0, len(node.text)),),
        scores=ChannelScores(),
        legal_bases=node.legal_bases,
    )


def _report(claims: Iterable[LabelledClaim], verifier: Verifier, passages: dict[str, Passage]) -> VerificationReport:
    caught: dict[str, list[bool]] = defaultdict(list)
    for claim in claims:
        caught[claim.kind].append(is_caught(claim, verifier, passages))
    true = caught.pop("true", [])
    kinds = tuple(
        KindResult(kind=kind, n=len(results), caught=sum(results), rate=_rate(results), interval=_interval(results))
        for kind, results in caught.items()
    )
    return VerificationReport(
        kinds=kinds,
        true_claims=TrueResult(n=len(true), rejected=sum(true), rate=_rate(true), interval=_interval(true)),
    )


def _rate(results: Sequence[bool]) -> float:
    return round(sum(results) / len(results), 4) if results else 0.0


def _interval(results: Sequence[bool]) -> tuple[float, float]:
    if not results:
        return (0.0, 1.0)
    interval = binomtest(sum(results), len(results)).proportion_ci(method="wilson")
    return (round(float(interval.low), 4), round(float(interval.high), 4))
