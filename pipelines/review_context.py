"""What a caller transmits about a planned payment: facts and a calculation, and nothing else."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from typing import Annotated

from pydantic import BeforeValidator, Field

from custom_postprocessors.evidence import Frozen
from custom_postprocessors.personal_data import names_person, personal_forms
from pipelines.errors import BadInput
from pipelines.normalisation import remove_invisible

KEY = r"^[a-z0-9_.-]{1,80}$"
MOST_FACTS = 40
MOST_COMPONENTS = 40
MOST_CHARACTERS = 200


def _clean(text: object) -> object:
    """One line without invisible characters; compatibility forms (full-width digits) as the plain ones."""
    return " ".join(remove_invisible(unicodedata.normalize("NFKC", text)).split()) if isinstance(text, str) else text


Key = Annotated[str, Field(pattern=KEY)]
Text = Annotated[str, BeforeValidator(_clean), Field(max_length=MOST_CHARACTERS)]


class ReviewFact(Frozen):
    """One transmitted value, e.g. `{key: "geringfuegigkeitsgrenze_monatlich", value: "551,10 €"}`."""

    key: Key
    value: Text
    note: Text = ""


class ReviewComponent(Frozen):
    """One line of the caller's calculation; numbers are text, so that nothing is rounded on the way."""

    key: Key
    base: Text | None = None
    rate: Text | None = None
    amount: Text | None = None


class ReviewComputation(Frozen):
    """The caller's calculation."""

    result: Text
    basis: Text = ""
    components: Annotated[tuple[ReviewComponent, ...], Field(max_length=MOST_COMPONENTS)] = ()


class ReviewContext(Frozen):
    """What a planned payment is checked by; data, never instructions."""

    facts: Annotated[tuple[ReviewFact, ...], Field(max_length=MOST_FACTS)] = ()
    computation: ReviewComputation | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, in order, each once."""
        components = self.computation.components if self.computation else ()
        return tuple(dict.fromkeys((*(fact.key for fact in self.facts), *(component.key for component in components))))


class ReceivedValue(Frozen):
    """One transmitted value to check: of a fact, or of a component (its rate, base or amount)."""

    key: Key
    value: str
    note: str = ""


def received_values(context: ReviewContext) -> tuple[ReceivedValue, ...]:
    """Every value that may have a counterpart in the knowledge base, facts first; keys may repeat."""
    facts = [ReceivedValue(key=fact.key, value=fact.value, note=fact.note) for fact in context.facts]
    components = context.computation.components if context.computation else ()
    parts = [
        ReceivedValue(key=component.key, value=value, note=note)
        for component in components
        for note, value in (("Satz", component.rate), ("Betrag", component.amount), ("Grundlage", component.base))
        if value
    ]
    return (*facts, *parts)


def require_impersonal(context: ReviewContext, today: date) -> None:
    """Does nothing for a context without employee data.

    Raises:
        BadInput: a key names a person, or a text has the form of a personal number. The value is not repeated.
    """
    for place, key, texts in _texts(context):
        if names_person(key):
            raise BadInput(
                f"{place}: Der Schlüssel bezeichnet eine Person.", hint="Personenbezogene Angaben werden nicht angenommen."
            )
        if any(personal_forms(text, key=key, today=today) for text in texts):
            raise BadInput(
                f"{place}: Ein Wert hat die Form einer Sozialversicherungsnummer, einer IBAN, einer E-Mail-Adresse oder eines "
                "Geburtsdatums.",
                hint="Personenbezogene Angaben werden nicht angenommen.",
            )


def _texts(context: ReviewContext) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for number, fact in enumerate(context.facts):
        yield f"context.facts.{number}", fact.key, (fact.value, fact.note, _digits_of(fact.key))
    if context.computation is not None:
        computation = context.computation
        yield "context.computation", "", (computation.result, computation.basis)
        for number, part in enumerate(computation.components):
            texts = tuple(text for text in (part.base, part.rate, part.amount) if text)
            yield f"context.computation.components.{number}", part.key, (*texts, _digits_of(part.key))


def _digits_of(key: str) -> str:
    """The key as text whose numbers are seen: an insurance number may hide in it."""
    return re.sub(r"[_]", " ", key)
