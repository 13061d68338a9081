from datetime import date

import pytest

from pipelines.contracts import Plan, Question, Turn
from pipelines.errors import BadInput
from pipelines.german import GermanAnalyzer
from pipelines.planning import Planner
from pipelines.question_type import question_type
from pipelines.recipes import read_recipes, recipe_for
from pipelines.scope_words import scopes_of


@pytest.fixture(scope="module")
def planner(bundled_nodes) -> Planner:
    entries = {node.entry_id: node for node in bundled_nodes}
    return Planner(GermanAnalyzer.build(bundled_nodes), entries.values(), lambda: date(2026, 6, 1), recipes=read_recipes())


def planned(planner: Planner, text: str, *earlier: str) -> Plan:
    history = tuple(Turn(question=question, request_id=f"r{number}") for number, question in enumerate(earlier))
    return planner.plan(Question(text=text, history=history))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Wie hoch ist die Höchstbeitragsgrundlage?", "value"),
        ("wieviel kriegt der lehrling", "value"),
        ("Bis wann ist der Lohnzettel zu übermitteln?", "value"),
        ("Ist die Schmutzzulage beitragsfrei?", "fact"),
        ("Gib mir einen Überblick über die Sachbezüge.", "survey"),
        ("ueberblick sachbezuege", "survey"),
        ("was muss ich alles beachten wenn einer geht", "survey"),
        ("alle altersgrenzen als liste", "survey"),
        ("In der Übersicht steht etwas anderes, wer hat recht?", "fact"),
        ("geringfügig oder teilzeit, was ist günstiger", "decision"),
        ("was is gscheiter, gutschein oder praemie", "decision"),
        ("Was ist der Unterschied zwischen Abfertigung alt und neu?", "comparison"),
    ],
)
def test_tells_the_type_of_a_question(question, expected):
    assert question_type(question, 1) == expected


def test_calls_two_questions_in_one_multi():
    assert question_type("Wie hoch ist A und wie lange dauert B?", 2) == "multi"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was gilt laut Gesetz?", ("gesetz",)),
        ("was steht im kv zum samstag", ("kv",)),
        ("Was sagt der OGH zur Verjährung?", ("rechtsprechung",)),
        ("gibts judikatur dazu", ("rechtsprechung",)),
        ("Besteht ein gesetzlicher Anspruch auf Urlaubszuschuss?", ()),
        ("wenn im KV nichts steht, was gilt dann", ()),
        ("OGH oder EuGH: find beides, was stimmt?", ()),
    ],
)
def test_filters_only_by_sources_that_are_asked_for(question, expected):
    assert scopes_of(question) == expected


def test_plans_a_plain_question_without_sub_queries(planner):
    plan = planned(planner, "Wie hoch ist die Geringfügigkeitsgrenze 2026?")

    assert plan == Plan(
        type="value",
        queries=("Wie hoch ist die Geringfügigkeitsgrenze 2026?",),
        as_of="2026-06",
        as_of_named=True,
        topics=plan.topics,
    )
    assert "sozialversicherung" in plan.topics


def test_takes_two_questions_apart_and_gives_the_second_its_subject(planner):
    plan = planned(planner, "Mit welchem Satz ist der Dienstgeberbeitrag zu rechnen und wie hoch ist die Kommunalsteuer?")

    assert plan.type == "multi"
    assert plan.queries[1:] == (
        "Mit welchem Satz ist der Dienstgeberbeitrag zu rechnen",
        "wie hoch ist die Kommunalsteuer Dienstgeberbeitrag",
    )


def test_looks_up_listed_things_one_by_one(planner):
    plan = planned(planner, "Weihnachtsfeier und Essensbons: Was davon ist steuerfrei?")

    assert [query.split()[0] for query in plan.queries[1:]] == ["Weihnachtsfeier", "Essensbons"]


def test_does_not_split_off_a_part_without_a_subject(planner):
    assert len(planned(planner, "Wie hoch ist die Kommunalsteuer und wann ist sie fällig?").queries) == 1


def test_never_has_more_than_three_queries(planner):
    question = (
        "Wie hoch ist die Kommunalsteuer? Wie hoch ist der Pendlereuro? Wie lange dauert die Elternkarenz? Was ist ein Tronc?"
    )

    assert len(planned(planner, question).queries) == 3


def test_adds_the_queries_of_a_recipe_to_a_calculation(planner):
    plan = planned(planner, "was kostet mich eine anstellung mit 3.000 brutto in wien")
    recipe = planner.recipe("was kostet mich eine anstellung mit 3.000 brutto in wien")

    assert recipe is not None
    assert plan.queries[1:] == recipe.queries


@pytest.mark.parametrize("question", ["ueberstunden oder zeitausgleich?", "Überstunden oder Zeitausgleich?"])
def test_matches_recipes_however_umlauts_are_typed(question):
    recipe = recipe_for(question, read_recipes())

    assert recipe is not None
    assert recipe.id == "overtime"


def test_refuses_a_recipe_file_with_unknown_keys(tmp_path):
    path = tmp_path / "recipes.yaml"
    path.write_text("- {id: a, match: [x], queries: [y], reason: r, colour: red}\n", encoding="utf-8")

    with pytest.raises(BadInput, match="colour"):
        read_recipes(path)


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        ("Wie hoch ist die Geringfügigkeitsgrenze 2026?", "und 2025?", "Wie hoch ist die Geringfügigkeitsgrenze 2025?"),
        ("Wie hoch ist der DZ in Oberösterreich 2026?", "und in Wien?", "Wie hoch ist der DZ in Wien 2026?"),
        (
            "Mit welchem Satz ist der Dienstgeberbeitrag zum FLAF zu rechnen?",
            "wann ist der fällig?",
            "Wann ist der fällig (Dienstgeberbeitrag, FLAF)?",
        ),
    ],
)
def test_completes_a_follow_up_with_the_subject_before(planner, before, question, expected):
    plan = planned(planner, question, before)

    assert plan.standalone_question == expected
    assert plan.queries[0] == expected


def test_completes_a_follow_up_of_a_follow_up(planner):
    plan = planned(planner, "und in Tirol?", "Wie hoch ist der DZ in Oberösterreich 2026?", "und in Wien?")

    assert plan.standalone_question == "Wie hoch ist der DZ in Tirol 2026?"


@pytest.mark.parametrize("question", ["Wie hoch ist der Pendlereuro 2026?", "danke"])
def test_leaves_a_question_alone_that_is_no_follow_up(planner, question):
    assert planned(planner, question, "Wie hoch ist der DZ 2026?").standalone_question is None


def test_speaks_for_the_month_of_a_completed_follow_up(planner):
    plan = planned(planner, "und 2024?", "Wie hoch ist der DZ in Wien 2026?")

    assert (plan.as_of, plan.as_of_named) == ("2024-12", True)


def test_lets_the_caller_decide_month_scopes_and_topics(planner):
    question = Question(text="Was gilt laut Gesetz nächstes Jahr?", as_of="2023-05", scopes=("kv",), topics=("urlaub",))
    plan = planner.plan(question)

    assert (plan.as_of, plan.scopes, plan.topics) == ("2024-01", ("kv",), ("urlaub",))


def test_plans_the_same_twice(planner):
    question = Question(text="wieviel bleibt von 2.600 brutto u was zahlt der DG heuer in wien")

    assert planner.plan(question) == planner.plan(question)


@pytest.mark.parametrize("text", ["?", "a", "…", "1", "§", "\u00fc" * 2000])
def test_plans_whatever_is_typed(planner, text):
    assert planned(planner, text, "?").queries[0]


def test_month_of_the_clock_is_read_for_every_question(bundled_nodes):
    days = iter((date(2026, 6, 30), date(2026, 7, 1)))
    planner = Planner(GermanAnalyzer.build(bundled_nodes[:5]), bundled_nodes[:5], lambda: next(days))
    assert [planned(planner, "Wie hoch ist das Taggeld?").as_of for _ in range(2)] == ["2026-06", "2026-07"]


def test_calculation_names_what_its_recipe_assumes(planner):
    found = planned(planner, "Dienstauto oder Kilometergeld, was ist günstiger?")
    assert found.assumptions == planner.recipe("Dienstauto oder Kilometergeld, was ist günstiger?").assumptions != ()
    assert planned(planner, "Wie hoch ist das Kilometergeld?").assumptions == ()
