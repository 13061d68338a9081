from dataclasses import replace

from custom_postprocessors.evidence import ChannelScores, GroundedContext
from pipelines.facts import facts_of
from pipelines.whole_entries import with_whole_entries
from tests.pipelines.quoting import passage_of


def of_entry(nodes, entry_id):
    return [node for node in nodes if node.entry_id == entry_id]


def test_adds_the_other_sections_beside_the_best_one(bundled_nodes):
    nodes = [*of_entry(bundled_nodes, "pv-sv-05"), *of_entry(bundled_nodes, "pv-sv-07")]
    facts = {node.node_id: facts_of(node) for node in nodes}
    best = [replace(passage_of(of_entry(nodes, entry_id)[1]), block_id=entry_id) for entry_id in ("pv-sv-07", "pv-sv-05")]
    context = GroundedContext(tuple(best))

    whole = with_whole_entries(context, lambda entry_id: of_entry(nodes, entry_id), lambda node_id: facts[node_id])

    assert [p.block_id for p in whole.passages] == [
        "pv-sv-07",
        *[node.node_id for node in of_entry(nodes, "pv-sv-07") if node.node_id != best[0].node_id],
        "pv-sv-05",
        *[node.node_id for node in of_entry(nodes, "pv-sv-05") if node.node_id != best[1].node_id],
    ]
    texts = {node.node_id: node.text for node in nodes}
    assert all(p.text == texts[p.node_id] and p.shown == ((0, len(p.text)),) for p in whole.passages)
    assert all(p.scores == ChannelScores() for p in whole.passages if p not in best)
    given = {p.node_id for p in best}
    assert whole.facts == tuple(fact for p in whole.passages if p.node_id not in given for fact in facts[p.node_id])


def test_source_text_keeps_the_sections_it_has(bundled_nodes):
    nodes = [replace(node, source_text=True) for node in of_entry(bundled_nodes, "ris-angg-01")]
    context = GroundedContext((passage_of(nodes[0]),))
    assert with_whole_entries(context, lambda _: nodes, lambda _: ()) == context
