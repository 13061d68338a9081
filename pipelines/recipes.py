"""Calculations that need more than the question says: which rates a cost or design question is answered from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from custom_postprocessors.data_files import read_yaml
from custom_postprocessors.evidence import Frozen
from pipelines.errors import BadInput
from pipelines.rule_text import fold

RECIPES_FILE = Path(__file__).parent / "data" / "recipes.yaml"


class Recipe(Frozen):
    """Sub-queries that a kind of calculation needs; applies when a phrase (and an `about` word, if any) is in the question."""

    id: str
    match: Annotated[tuple[str, ...], Field(min_length=1)]
    about: tuple[str, ...] = ()
    queries: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    assumptions: tuple[str, ...] = ()
    reason: str

    def applies_to(self, folded: str) -> bool:
        """Whether the recipe applies to a question that was folded."""
        return any(fold(phrase) in folded for phrase in self.match) and (
            not self.about or any(fold(word) in folded for word in self.about)
        )


def read_recipes(path: Path = RECIPES_FILE) -> tuple[Recipe, ...]:
    """The recipes of a file, in its order; the first that applies is used.

    Raises:
        BadInput: the file is not a list of recipes.
    """
    try:
        return TypeAdapter(tuple[Recipe, ...]).validate_python(read_yaml(path))
    except (ValidationError, yaml.YAMLError, OSError) as exc:
        raise BadInput(f"The recipe file {str(path)!r} cannot be used: {exc}.", hint="Correct the file.") from exc


def recipe_for(question: str, recipes: Sequence[Recipe]) -> Recipe | None:
    """The first recipe that applies to the question, or None."""
    folded = fold(question)
    return next((recipe for recipe in recipes if recipe.applies_to(folded)), None)
