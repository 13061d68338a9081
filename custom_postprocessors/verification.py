"""Draft claims in, proven claims or the reasons against them out; pure and deterministic."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from custom_postprocessors.claim_text import plain_claim
from custom_postprocessors.clauses import split_statements
from custom_postprocessors.entailment import LEAST_ENTAILED, Entailment
from custom_postprocessors.equivalents import equivalent
from custom_postprocessors.evidence import (
    Citation,
    Claim,
    DraftClaim,
    Formula,
    GroundedContext,
    Operand,
    Passage,
    Rejected,
    TextAnalyzer,
    Value,
    Violation,
)
from custom_postprocessors.formula import Calculation, FormulaError, agrees, calculate
from custom_postprocessors.near_copies import is_patchwork
from custom_postprocessors.numbers import canonical, parse_number
from custom_postprocessors.roles import bundled_roles
from custom_postprocessors.sentences import TextUnit, plain_markdown, row_text, split_units
from custom_postprocessors.statement import StatementChecker
from custom_postprocessors.support import EvidenceReader, EvidenceUnit, choose_support
from custom_postprocessors.unread import unread_numbers
from custom_postprocessors.value_roles import Thresholds
from custom_postprocessors.values import FoundValue, find_values, proves
from custom_postprocessors.words import WordReader

_CACHED_QUESTIONS = 16
_CACHED_SECTIONS = 256


class Verifier:
    """Checks each drafted claim against the sections it cites. Safe to use from several threads.

    Args:
        analyzer: the index's German analysis; decides which words are the same and how rare they are.
        entailment: a second opinion on claims that passed; it can only reject. None: the rules alone decide.
    """

    def __init__(
        self, analyzer: TextAnalyzer, thresholds: Thresholds | None = None, entailment: Entailment | None = None
    ) -> None:
        self._entailment = entailment
        self._words = WordReader(analyzer)
        self._evidence = EvidenceReader(self._words)
        self._statements = StatementChecker(self._words, bundled_roles(), thresholds or Thresholds())
        self._asked = lru_cache(_CACHED_QUESTIONS)(find_values)
        self._split = lru_cache(_CACHED_SECTIONS)(split_units)

    def check(self, draft: DraftClaim, context: GroundedContext, question: str) -> Claim | Rejected:
        """The proven claim with quotes and values, or every reason why it may not be shown.

        `question` only serves derived claims, whose operands may come from it; it proves nothing else.
        """
        plain = plain_claim(draft.text, draft.sources, context)
        violations = list(plain.violations)
        passages = self._passages(draft, context, violations)
        if violations:
            return _rejected(draft, violations)
        if draft.quotes:
            return self._check_quoted(draft, plain.text, context)
        units = [unit for passage in passages for unit in self._evidence.units(passage)]
        values = find_values(plain.text)
        if draft.derived and not _only_states(draft, plain.text):
            return self._check_derived(draft, plain.text, values, units, question)
        chosen, violations = self._check_stated(plain.text, values, units, question)
        if violations:
            other = equivalent(plain.text, [f"{unit.above} {unit.text}" for unit in units])
            if other is not None:
                carrying, against = self._check_stated(other.text, find_values(other.text), units, question)
                if not against and other.is_carried(" ".join(unit.text for unit in carrying)):
                    chosen, violations = carrying, []
        if violations:
            return _rejected(draft, violations)
        return _claim(plain.text, values, chosen)

    def _check_stated(
        self, text: str, values: Sequence[FoundValue], units: Sequence[EvidenceUnit], question: str
    ) -> tuple[list[EvidenceUnit], list[Violation]]:
        """The units that carry a claim which calculates nothing, and everything against it."""
        violations = list(unread_numbers(text, values, units))
        if is_patchwork(text, [(unit.passage.entry_id, unit.text) for unit in units]):
            violations.append(_violation("merged", "Die Aussage fügt Satzteile zweier Einträge aneinander; bitte trennen."))
        chosen = self._check_statements(text, units, question, violations)
        if not violations and self._entailment is not None:
            premise = " ".join(f"{unit.above} {unit.text}" for unit in chosen)
            if self._entailment.entails(plain_markdown(premise), text) < LEAST_ENTAILED:
                violations.append(_violation("unsupported", "Die Aussage folgt nicht aus der zitierten Stelle."))
        return chosen, violations

    def _check_statements(
        self, text: str, units: Sequence[EvidenceUnit], question: str, violations: list[Violation]
    ) -> list[EvidenceUnit]:
        """The units that carry all statements of a claim, in order, once each."""
        asked = self._asked(question)
        chosen: list[EvidenceUnit] = []
        before: EvidenceUnit | None = None
        for statement in split_statements(text, self._words):
            verdict = self._statements.check(statement, units, before)
            violations.extend(_only_asked(item, asked) for item in verdict.violations)
            chosen.extend(unit for unit in verdict.units if unit not in chosen)
            before = verdict.units[0] if verdict.units else None
        return chosen

    def _passages(self, draft: DraftClaim, context: GroundedContext, violations: list[Violation]) -> list[Passage]:
        passages: list[Passage] = []
        for source in dict.fromkeys((*draft.sources, *(quote[0] for quote in draft.quotes))):
            passage = context.passage(source)
            found = [passage] if passage is not None else list(context.of_entry(source))
            if not found:
                message = f"Die Quelle „{source}“ wurde nicht gegeben."
                violations.append(Violation(kind="unknown_source", message=message, value=source))
            passages.extend(item for item in found if item not in passages)
        if not draft.sources and not draft.quotes:
            violations.append(_violation("uncited", "Die Aussage nennt keine Quelle."))
        return passages

    def _check_quoted(self, draft: DraftClaim, text: str, context: GroundedContext) -> Claim | Rejected:
        """Claims of the extractive engine: exact slices, and the text is nothing but them."""
        citations: list[Citation] = []
        shown: set[str] = set()
        for block_id, start, end in draft.quotes:
            passage = context.passage(block_id)
            if passage is None or not any(a <= start < end <= b for a, b in passage.shown):
                return _rejected(
                    draft, [_violation("quote_mismatch", f"Die Stelle {start}–{end} in „{block_id}“ wurde nicht gegeben.")]
                )
            citations.append(_citation(passage, start, end))
            shown |= _renderings(passage, self._split(passage.text), start, end)
        if not _consists_of(text, shown):
            return _rejected(draft, [_violation("quote_mismatch", "Der Text ist nicht der zitierte Wortlaut.")])
        found = [(citation.entry_id, find_values(citation.quote)) for citation in citations]
        values = find_values(text)
        missing = [value for value in values if not any(proves(item, value) for _, items in found for item in items)]
        if missing:
            return _rejected(draft, _missing(missing, ""))
        return Claim(text=text, citations=tuple(citations), values=_values(values, found))

    def _check_derived(
        self, draft: DraftClaim, text: str, values: Sequence[FoundValue], units: Sequence[EvidenceUnit], question: str
    ) -> Claim | Rejected:
        violations: list[Violation] = []
        calculation, stated = _calculated(draft, text, violations)
        if calculation is None or stated is None:
            return _rejected(draft, violations)
        asked = self._asked(question)
        own = [value for value in values if not _is_result(value, stated) and not _given(value, asked)]
        operands, needed = _operands(calculation, units, asked, violations)
        words = self._words.words(text)
        question_stems = self._words.stems(question)
        left = [word for word in words if word.whole not in question_stems]
        support = choose_support(left, [*own, *needed], units)
        violations.extend(_missing(support.missing_values, ""))
        if not support.units and not (operands and all(operand.entry_id == "question" for operand in operands)):
            violations.append(_violation("unsupported", "Die zitierten Abschnitte tragen die Berechnung nicht."))
        if not support.units:
            violations.append(_violation("uncited", "Kein Operand der Berechnung ist belegt."))
        violations.extend(unread_numbers(text, values, units))
        violations.extend(self._statements.check_derived(text, question, support.units))
        if violations:
            return _rejected(draft, violations)
        formula = Formula(expression=calculation.expression, operands=tuple(operands), result=canonical(stated))
        found = [(unit.passage.entry_id, unit.values) for unit in support.units]
        return Claim(
            text=text,
            derived=True,
            formula=formula,
            citations=tuple(unit.citation() for unit in support.units),
            values=_values(values, found),
        )


def _calculated(draft: DraftClaim, text: str, violations: list[Violation]) -> tuple[Calculation | None, Decimal | None]:
    if draft.formula is None:
        violations.append(_violation("arithmetic", "Eine berechnete Aussage braucht ihre Formel."))
        return None, None
    results = [value.number for value in find_values(draft.formula.result) if value.number is not None]
    stated = results[0] if len(results) == 1 else parse_number(draft.formula.result)
    try:
        calculation = calculate(draft.formula.expression)
    except FormulaError:
        violations.append(_violation("arithmetic", "Die Formel ist keine Rechnung aus Zahlen und + - * / ( )."))
        return None, None
    if stated is None or not agrees(calculation, stated, rounded=any(word in text for word in ("rund ", "ca. ", "gerundet"))):
        violations.append(
            _violation("arithmetic", f"Die Rechnung ergibt {canonical(calculation.value)}, nicht {draft.formula.result}.")
        )
        return None, None
    if not any(_is_result(value, stated) for value in find_values(text)):
        violations.append(_violation("arithmetic", "Das Ergebnis der Formel steht nicht in der Aussage."))
    return calculation, stated


def _only_states(draft: DraftClaim, text: str) -> bool:
    """Whether a claim marked derived calculates nothing: its result is one of its operands. It is checked as a statement."""
    if draft.formula is None:
        return False
    try:
        calculation = calculate(draft.formula.expression)
    except FormulaError:
        return False
    return calculation.value in calculation.operands and any(_is_result(value, calculation.value) for value in find_values(text))


def _operands(
    calculation: Calculation, units: Sequence[EvidenceUnit], asked: Sequence[FoundValue], violations: list[Violation]
) -> tuple[list[Operand], list[FoundValue]]:
    """Where each operand comes from, and the source values that must be quoted for them."""
    operands: list[Operand] = []
    needed: list[FoundValue] = []
    for number in dict.fromkeys(calculation.operands):
        proof = next(((unit, value) for unit in units for value in unit.values if _has_number(value, number)), None)
        if any(_has_number(value, number) for value in asked):
            operands.append(Operand(value=canonical(number), entry_id="question"))
        elif proof is not None:
            operands.append(Operand(value=canonical(number), entry_id=proof[0].passage.entry_id))
            needed.append(proof[1])
        else:
            message = f"Der Operand {canonical(number)} steht weder in den zitierten Abschnitten noch in der Frage."
            violations.append(Violation(kind="value_not_in_source", message=message, value=canonical(number)))
    return operands, needed


def _has_number(value: FoundValue, number: Decimal) -> bool:
    if value.number is None:
        return False
    return value.number == number or (value.kind == "rate" and value.unit == "%" and value.number / 100 == number)


def _is_result(value: FoundValue, stated: Decimal) -> bool:
    return value.kind in ("amount", "rate", "period", "count") and value.number == stated


def _given(value: FoundValue, asked: Sequence[FoundValue]) -> bool:
    return any(proves(item, value) for item in asked)


def _only_asked(violation: Violation, asked: Sequence[FoundValue]) -> Violation:
    """A missing value that the question names is said to be only there."""
    if violation.kind != "value_not_in_source" or violation.value is None:
        return violation
    if not any(_given(value, asked) for value in find_values(violation.value)):
        return violation
    message = f"„{violation.value}“ steht nur in der Frage, in keinem zitierten Abschnitt."
    return violation.model_copy(update={"kind": "value_only_in_question", "message": message})


def _missing(values: Sequence[FoundValue], question: str) -> list[Violation]:
    asked = find_values(question)
    found = []
    for value in values:
        if value.kind in ("norm", "case"):
            kind, message = "norm_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt; Normen nie ergänzen."
        elif _given(value, asked):
            kind, message = "value_only_in_question", f"„{value.text}“ steht nur in der Frage, in keinem zitierten Abschnitt."
        else:
            kind, message = "value_not_in_source", f"„{value.text}“ steht in keinem zitierten Abschnitt."
        found.append(Violation(kind=kind, message=message, value=value.text))
    return found


def _renderings(passage: Passage, units: Sequence[TextUnit], start: int, end: int) -> set[str]:
    """How the slice may be shown: its plain text, or its table rows as statements."""
    found = {_loose(plain_markdown(passage.text[start:end]))}
    for unit in units:
        if unit.kind == "row" and start <= unit.start and unit.end <= end:
            found.add(_loose(row_text(passage.text, unit)))
    return found


def _consists_of(text: str, renderings: set[str]) -> bool:
    """Whether the text is renderings one after the other, and nothing else."""
    rest = _loose(text)
    for rendering in sorted(renderings, key=len, reverse=True):
        rest = rest.replace(rendering, "")
    return not rest


def _loose(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in "%€§")


def _citation(passage: Passage, start: int, end: int) -> Citation:
    quote = passage.text[start:end]
    return Citation(entry_id=passage.entry_id, section=passage.section, stand=passage.stand, quote=quote, start=start, end=end)


def _claim(text: str, values: Sequence[FoundValue], units: Sequence[EvidenceUnit]) -> Claim:
    found = [(unit.passage.entry_id, (*unit.values, *_heading_values(unit))) for unit in units]
    return Claim(text=text, citations=tuple(unit.citation() for unit in units), values=_values(values, found))


def _heading_values(unit: EvidenceUnit) -> tuple[FoundValue, ...]:
    return tuple(FoundValue(0, 0, norm, "norm", norm) for norm in sorted(unit.norms))


def _values(values: Sequence[FoundValue], found: Sequence[tuple[str, Sequence[FoundValue]]]) -> tuple[Value, ...]:
    result = []
    for value in values:
        entry_id = next((entry for entry, items in found if any(proves(item, value) for item in items)), None)
        result.append(Value(text=value.text, kind=value.kind, normalized=value.normalized, entry_id=entry_id))
    return tuple(result)


def _violation(kind: str, message: str) -> Violation:
    return Violation(kind=kind, message=message)


def _rejected(draft: DraftClaim, violations: Sequence[Violation]) -> Rejected:
    return Rejected(draft, tuple(item.model_copy(update={"claim": draft.text}) for item in violations))
