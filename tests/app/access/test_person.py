import pytest

from app.access.person import LOCAL_PERSON, NOBODY, ROLES, Person, require_role
from pipelines.errors import Forbidden


@pytest.mark.parametrize(
    ("granted", "held"),
    [
        ("analyst", ["analyst"]),
        ("evaluator", ["analyst", "evaluator"]),
        ("editor", ["analyst", "evaluator", "editor"]),
        ("admin", ["analyst", "evaluator", "editor", "admin"]),
    ],
)
def test_a_role_includes_those_before_it(granted, held):
    person = Person("maria", frozenset({granted}))
    assert [role for role in ROLES if person.has(role)] == held


def test_the_local_person_has_every_role_and_nobody_has_none():
    assert [LOCAL_PERSON.has(role) for role in ROLES] == [True] * 4
    assert [NOBODY.has(role) for role in ROLES] == [False] * 4


def test_a_role_that_is_missing_is_refused_by_name():
    require_role(Person("maria", frozenset({"editor"})), "analyst")
    with pytest.raises(Forbidden, match="'maria' does not have the role 'editor'"):
        require_role(Person("maria", frozenset({"evaluator"})), "editor")
