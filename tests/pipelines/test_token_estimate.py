from pipelines.prompts import load_prompt
from pipelines.token_estimate import evidence_budget_tokens, prompt_tokens_estimate, was_cut

COUNTED = {
    "Wer nicht mehr verdient, ist nur in der Unfallversicherung teilversichert: Der Dienstgeber zahlt 1,10 % UV.": 34,
    "| Geringfügigkeitsgrenze monatlich | 551,10 € | 2026 (unverändert zu 2025) | § 5 Abs 2 ASVG |": 47,
}
"""Tokens of qwen2.5's vocabulary."""


def test_estimate_is_near_the_count_of_a_real_vocabulary():
    for text, tokens in COUNTED.items():
        assert 0.8 < prompt_tokens_estimate(text) / tokens < 1.25


def test_nothing_costs_nothing():
    assert prompt_tokens_estimate("") == 0


def test_estimates_add_up():
    text = "Die Grenze beträgt 551,10 € monatlich. " * 50
    assert abs(prompt_tokens_estimate(text * 2) - 2 * prompt_tokens_estimate(text)) <= 1


def test_blocks_prompt_and_answer_fit_in_the_window():
    system = load_prompt().text
    budget = evidence_budget_tokens(system, num_ctx=32768, num_predict=2048)
    assert 27_000 > budget > 25_000
    assert (budget + prompt_tokens_estimate(system)) * 1.1 + 2048 < 32768


def test_window_that_is_too_small_leaves_nothing():
    assert evidence_budget_tokens("x" * 4000, num_ctx=1024, num_predict=512) == 0


def test_half_a_prompt_was_cut_and_a_leaner_vocabulary_is_not():
    assert was_cut(2050, 4100)
    assert not was_cut(3400, 4100)
