import pytest
from llama_index.core.schema import QueryBundle

from custom_postprocessors.entry_terms import EntryTerms, TermReader
from custom_postprocessors.folding import fold
from custom_postprocessors.gate import EvidenceGate, Gate, GateModel
from custom_postprocessors.gate_features import (
    EvidenceFeatures,
    SaidReader,
    everyday_words,
    missing_in,
    names_of,
    said_in,
    support_of,
)
from custom_postprocessors.outside import KINDS, OutsideSubjects, WordGroup, of_other_agreement, read_groups
from tests.custom_postprocessors.grounding_parts import SmallIndex
from tests.retrieval_parts import section

SECTIONS = [
    section(
        "pv-km-01#z", "Das Kilometergeld beträgt 0,50 € je Kilometer.", title="Kilometergeld für Pkw", tags=("Kilometergeld",)
    ),
    section("pv-url-01#z", "Der Urlaub beträgt fünf Wochen.", title="Urlaubsanspruch", tags=("Urlaub",)),
    section(
        "pv-kom-01#z",
        "Die Kommunalsteuer, nicht die Umsatzsteuer, beträgt 3 %.",
        title="Kommunalsteuer",
        tags=("Kommunalsteuer",),
    ),
]


@pytest.fixture(scope="module")
def index() -> SmallIndex:
    return SmallIndex(SECTIONS)


def gate_of(index: SmallIndex, model: GateModel | None = None, encoder: str | None = None) -> Gate:
    terms = TermReader(index.analyzer, index)
    return Gate(SaidReader(index.analyzer), terms, OutsideSubjects.bundled(index.analyzer), model, encoder=encoder)


def outside(index: SmallIndex, question: str, node_id: str) -> float:
    return OutsideSubjects.bundled(index.analyzer).unsaid(question, TermReader(index.analyzer, index).entry(index.hits(node_id)))


def test_passes_what_an_entry_says_and_stops_what_none_says(index):
    hits = index.hits("pv-km-01#z", "pv-url-01#z")

    assert gate_of(index).judge("Wie hoch ist das Kilometergeld?", hits).reason is None
    assert gate_of(index).judge("Wie hoch ist die Hundeabgabe für Zwingerhunde?", hits).reason == "kb_silent"


def test_calls_partial_evidence_weak(index):
    model = GateModel(threshold=1.0)

    assert gate_of(index, model).judge("Wie hoch ist das Kilometergeld?", index.hits("pv-km-01#z")).reason == "weak_evidence"


def test_stops_everything_when_nothing_was_found(index):
    verdict = gate_of(index).judge("Wie hoch ist das Kilometergeld?", [])

    assert (verdict.reason, verdict.features) == ("kb_silent", EvidenceFeatures())


def test_judges_by_evidence_and_not_by_the_fused_score(index):
    hits = index.hits("pv-km-01#z")
    before = gate_of(index).judge("Kilometergeld", hits)
    for hit in hits:
        hit.score = 99.0
        hit.node.metadata["score_fused"] = 99.0

    assert gate_of(index).judge("Kilometergeld", hits) == before


def test_repeating_what_is_said_changes_nothing(index):
    terms = TermReader(index.analyzer, index).entry(index.hits("pv-km-01#z"))
    once = support_of(said_in("Kilometergeld Zwinger", index.analyzer), terms)

    assert support_of(said_in("Kilometergeld Zwinger Kilometergeld Zwinger", index.analyzer), terms) == pytest.approx(once)


def test_uses_similarity_only_for_an_encoder_that_was_measured(index):
    hits = index.hits("pv-km-01#z")
    hits[0].node.metadata["score_similarity"] = 0.1
    model = GateModel(similarity_floors=(("known", 0.2),))

    question = "Wer verhandelt das Kilometergeld?"
    assert gate_of(index, model, "known").judge(question, hits).reason == "weak_evidence"
    assert gate_of(index, model, "unknown").judge(question, hits).reason is None
    assert gate_of(index, model).judge(question, hits).reason is None


def test_words_that_say_all_of_the_question_need_no_similarity(index):
    hits = index.hits("pv-km-01#z")
    hits[0].node.metadata["score_similarity"] = 0.1
    gate = gate_of(index, GateModel(similarity_floors=(("known", 0.2),)), "known")

    assert gate.judge("was ist das kilometergeld", hits).reason is None


def test_names_every_entry_that_says_nearly_as_much_as_the_best(index):
    verdict = gate_of(index).judge("Kilometergeld", index.hits("pv-url-01#z", "pv-km-01#z"))

    assert (verdict.entry_id, verdict.rivals) == ("pv-km-01", ("pv-km-01",))


def test_the_postprocessor_lets_everything_or_nothing_through(index):
    hits = index.hits("pv-km-01#z", "pv-url-01#z")
    gate = EvidenceGate(gate_of(index))

    assert gate.postprocess_nodes(hits, QueryBundle("Wie hoch ist das Kilometergeld?")) == hits
    assert gate.postprocess_nodes(hits, QueryBundle("Was kostet ein Zwingerhund?")) == []


def test_missing_nouns_weigh_more_than_missing_verbs(index):
    entry = EntryTerms("x", frozenset(), (frozenset(),), frozenset())
    question = "Wie wird die Sonderbarkeit abgewickelt?"
    said = [one for one in said_in(question, index.analyzer) if one.source != "sonderbarkeit"]

    assert missing_in(said_in(question, index.analyzer), names_of(question), entry) > missing_in(said, names_of(question), entry)
    assert names_of("wie wird das abgewickelt bitte") is None


@pytest.mark.parametrize(
    ("question", "node_id", "expected"),
    [
        ("Wann ist die UVA abzugeben?", "pv-kom-01#z", 1.0),
        ("umsatz steuer voranmeldung bis wann", "pv-km-01#z", 1.0),
        ("Wie hoch ist der Satz der Umsatzsteuer?", "pv-kom-01#z", 0.4),
        ("Wie hoch ist die Kommunalsteuer?", "pv-kom-01#z", 0.0),
        ("Wie hoch ist das Kilometergeld in Deutschland?", "pv-km-01#z", 1.0),
        ("kilometergeld in der schweiz", "pv-km-01#z", 1.0),
        ("Welcher deutsche Mindestlohn gilt?", "pv-km-01#z", 1.0),
        ("Ein Künstler aus Deutschland bekommt Kilometergeld.", "pv-km-01#z", 0.0),
        ("Ein deutscher Musiker bekommt Kilometergeld.", "pv-km-01#z", 0.0),
        ("kv friseur, was kriegt sie", "pv-km-01#z", 1.0),
        ("Trinkgeld beim Friseur?", "pv-km-01#z", 0.0),
        ("was kost uns das", "pv-km-01#z", 0.0),
    ],
)
def test_tells_when_an_outside_subject_is_named_that_the_entry_does_not_speak_of(index, question, node_id, expected):
    assert outside(index, question, node_id) == expected


def test_a_knowledge_base_that_has_the_subject_is_not_affected():
    index = SmallIndex([section("pv-ust-01#z", "Die UVA ist am 15. abzugeben.", title="Umsatzsteuervoranmeldung", tags=("UVA",))])

    assert outside(index, "Wann ist die UVA abzugeben?", "pv-ust-01#z") == 0.0


def test_lists_can_be_replaced(index):
    groups = {"subjects": [WordGroup(field="Hunde", reason="Test.", words=("Hundeabgabe",))]}
    terms = TermReader(index.analyzer, index).entry(index.hits("pv-km-01#z"))

    assert OutsideSubjects(groups, index.analyzer).unsaid("hunde abgabe?", terms) == 1.0
    assert OutsideSubjects(groups, index.analyzer).unsaid("Wann ist die UVA abzugeben?", terms) == 0.0


def test_every_group_gives_its_reason(tmp_path):
    path = tmp_path / "groups.yaml"
    path.write_text("- {field: Hunde, reason: '', words: [Hund]}\n", encoding="utf-8")

    with pytest.raises(ValueError, match="reason"):
        read_groups(path)
    assert KINDS == ("subjects", "places", "branches")


def test_a_source_text_is_judged_by_the_sections_that_were_found():
    sections = [
        section("ris-x-01#a", "Kilometergeld.", section="§ 1", work="ris", source_text=True),
        section("ris-x-01#b", "Ganz anderes.", section="§ 2", work="ris", source_text=True),
    ]
    index = SmallIndex(sections)

    assert len(TermReader(index.analyzer, index).entry(index.hits("ris-x-01#b")).sections) == 1


def test_everyday_words_count_a_quarter_and_terms_in_full(index):
    weights = {
        share: {one.source: one.weight for one in said_in("langsam kilometergeld", index.analyzer, words)}
        for share, words in (("all", frozenset()), ("less", everyday_words()))
    }

    assert weights["less"]["langsam"] == pytest.approx(weights["all"]["langsam"] / 4)
    assert weights["less"]["kilometergeld"] == weights["all"]["kilometergeld"]


def test_no_everyday_word_is_a_subject_of_an_entry(bundled_nodes):
    tags = {fold(tag) for node in bundled_nodes for tag in node.tags}

    assert not tags & everyday_words()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was sagt der Kollektivvertrag für Kürschner?", True),
        ("kürschner kv, was kriegt sie", True),
        ("Was sagt der Kollektivvertrag für das Kürschnergewerbe?", True),
        ("Was sagt der Kollektivvertrag im Metallgewerbe?", False),
        ("metallgewerbe kv, was kriegt sie", False),
        ("er zahlt eh mehr als im KV", False),
        ("Ein Kürschner bekommt Kilometergeld.", False),
    ],
)
def test_an_agreement_of_a_branch_that_the_entry_does_not_name_is_another_one(question, expected):
    index = SmallIndex(
        [section("kv-m-01#z", "Im Gewerbe steigt der Lohn.", title="Metallgewerbe", tags=("Kollektivvertrag",), work="kv")]
    )
    terms = TermReader(index.analyzer, index).entry(index.hits("kv-m-01#z"))

    assert of_other_agreement(question, said_in(question, index.analyzer), terms) is expected
