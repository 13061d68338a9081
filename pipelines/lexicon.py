"""What people type and what the knowledge base calls it: abbreviations, synonyms and stop words, kept as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput
from pipelines.vocabulary import fold

BUNDLED_DIRECTORY = Path(__file__).resolve().parent / "data"
_ABBREVIATIONS = "abbreviations.yaml"
_SYNONYMS = "synonyms.yaml"
_STOP_WORDS = "stop_words.yaml"

_Words = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]


class Entry(Frozen):
    """One line of the lexicon: what is typed, what it means in the knowledge base's words, and why it is here."""

    words: _Words
    means: _Words
    reason: Annotated[str, Field(min_length=1)]


class _StopWords(Frozen):
    words: _Words
    reason: Annotated[str, Field(min_length=1)]


_Row = TypeVar("_Row", bound=Frozen)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a typed word or phrase stands for."""

    means: tuple[str, ...]
    abbreviation: bool


@dataclass(frozen=True, slots=True)
class Lexicon:
    """`meanings`: folded phrase of one to three words → meaning. `stop_words`: folded."""

    meanings: Mapping[str, Meaning]
    stop_words: frozenset[str]

    @classmethod
    def bundled(cls) -> Self:
        """The lexicon that comes with the program."""
        return cls.read(BUNDLED_DIRECTORY)

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Reads the three files of a lexicon.

        Raises:
            BadInput: a file is missing, is not valid, or explains a phrase twice.
        """
        meanings: dict[str, Meaning] = {}
        for name in (_ABBREVIATIONS, _SYNONYMS):
            for entry in _read(directory / name, TypeAdapter(list[Entry])):
                for words in entry.words:
                    phrase = " ".join(fold(words).replace("-", " ").split())
                    if phrase in meanings:
                        raise BadInput(f"{name} explains {words!r} a second time.", hint="Keep one of the two lines.")
                    meanings[phrase] = Meaning(entry.means, name == _ABBREVIATIONS)
        stop_words = {
            fold(word) for group in _read(directory / _STOP_WORDS, TypeAdapter(list[_StopWords])) for word in group.words
        }
        return cls(meanings, frozenset(stop_words))


def _read(path: Path, adapter: TypeAdapter[list[_Row]]) -> list[_Row]:
    try:
        return adapter.validate_python(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CBaseLoader))
    except (OSError, yaml.YAMLError, ValidationError) as exc:
        raise BadInput(f"The lexicon file {str(path)!r} is not valid: {exc}.", hint="Correct the file.") from exc
