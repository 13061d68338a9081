"""Who uses the interface, and what each role may do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pipelines.errors import Forbidden

Role = Literal["analyst", "evaluator", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
_INCLUDED: Mapping[Role, frozenset[Role]] = {
    "analyst": frozenset({"analyst"}),
    "evaluator": frozenset({"analyst", "evaluator"}),
    "editor": frozenset({"analyst", "evaluator", "editor"}),
    "admin": frozenset(ROLES),
}


@dataclass(frozen=True, slots=True)
class Person:
    """Who a request of the interface is from.

    Each role includes those before it:

    - `analyst` asks, searches, opens entries and Beweisblätter, rates, comments, reports gaps;
    - `evaluator` also compares models, and reads the evaluation and the log of answers;
    - `editor` also changes the knowledge base: documents, versions, tags, conflicts, gaps, index jobs;
    - `admin` may do everything: prompts, endpoints and whatever else governs the product.

    Args:
        name: the account's name, as it is recorded with ratings, comments, gaps and jobs.
        roles: what was granted; a person without any may do nothing.
    """

    name: str
    roles: frozenset[Role]

    def has(self, role: Role) -> bool:
        """Whether a granted role is this one or includes it."""
        return any(role in _INCLUDED[granted] for granted in self.roles)


LOCAL_PERSON = Person("lokal", frozenset(ROLES))
"""The one user of this machine; only as long as there is no account."""
NOBODY = Person("", frozenset())
"""Whoever was not recognised: no roles."""


def require_role(person: Person, role: Role) -> None:
    """Does nothing for a person who has the role; every handler calls it before it does anything.

    Raises:
        Forbidden: for anybody else.
    """
    if not person.has(role):
        raise Forbidden(f"{person.name!r} does not have the role {role!r}.", hint="An administrator can grant it.")
