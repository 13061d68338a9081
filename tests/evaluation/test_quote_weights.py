import numpy as np
import pytest

from evaluation.goldset import GoldItem
from evaluation.quote_weights import Example, halves, learn_weights, log_likelihood, make_example
from pipelines.extractive_units import QuotableCache
from pipelines.german import GermanAnalyzer
from tests.pipelines.quoting import entries_context, plan_for


def planted(seed: int) -> Example:
    """Ten pieces with noise; the one piece that is right has the first feature, and nothing else says so."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(10, 3))
    features[:, 0] = 0.0
    features[4, 0] = 1.0
    return Example(("telling", "noise", "more_noise"), features, (np.array([4]),), np.array([4, 5]))


def test_finds_the_feature_that_tells_and_holds_on_questions_not_learned_from():
    examples = [planted(seed) for seed in range(40)]
    learned, checked = halves(len(examples), seed=1)
    weights = learn_weights([examples[number] for number in learned])
    assert weights["telling"] > 1.0
    assert abs(weights["noise"]) < 0.3
    held_back = [examples[number] for number in checked]
    assert log_likelihood(held_back, weights) > log_likelihood(held_back, {}) + 1.0
    assert learn_weights([examples[number] for number in learned]) == weights


def test_halves_share_no_question():
    learned, checked = halves(9, seed=0)
    assert sorted([*learned, *checked]) == list(range(9))


def test_needs_an_example():
    with pytest.raises(ValueError, match="no example"):
        learn_weights([])


def test_pieces_that_hold_a_required_value_are_those_of_expected_entries(bundled_nodes):
    nodes = [node for node in bundled_nodes if node.entry_id in ("pv-sv-05", "pv-atz-08")]
    analyzer = GermanAnalyzer.build(nodes)
    context = entries_context(nodes, ["pv-atz-08", "pv-sv-05"])
    item = GoldItem(
        id="q-t-1",
        question="Wie hoch ist die Grenze?",
        kind="value",
        expected_ids=("pv-sv-05",),
        must_contain=("551,10 €", "fehlt"),
    )
    example = make_example(item, plan_for(item.question), context, analyzer, QuotableCache(analyzer))
    pieces = [(p.entry_id, piece) for p in context.passages for piece in QuotableCache(analyzer).of(p)]
    assert example.features.shape == (len(pieces), len(example.names))
    assert [entry_id for entry_id, _ in pieces].count("pv-sv-05") == len(example.expected)
    (holding,) = example.holding
    assert all("551,10 €" in pieces[row][1].text and pieces[row][0] == "pv-sv-05" for row in holding)
    assert len(holding) >= 3
