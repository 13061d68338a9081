import numpy as np
import pytest

from pipelines.errors import IndexFault
from pipelines.postings import Postings, best_rows, csr_rows

MATRIX = csr_rows([1.0, 2.0, 3.0], [1, 0, 1], [0, 1, 3], 2)


def test_terms_give_their_rows_and_weights():
    postings = Postings.from_matrix(["a", "b"], MATRIX)
    rows, weights = postings.of("b")
    assert (rows.tolist(), weights.tolist()) == ([0, 1], [1.0, 3.0])
    assert postings.of("c")[0].tolist() == []


def test_reopened_postings_equal_the_fresh_ones(tmp_path):
    postings = Postings.from_matrix(["a", "ß|„"], MATRIX)
    postings.save(tmp_path)
    reopened = Postings.open(tmp_path)
    assert reopened.numbers == postings.numbers
    assert reopened.rows == postings.rows == 2
    for name in ("offsets", "row_ids", "weights"):
        assert np.array_equal(getattr(reopened, name), getattr(postings, name))


@pytest.mark.parametrize("damage", ["terms.json", "row_ids.npy", "cut", "fewer terms"])
def test_refuses_damaged_files(tmp_path, damage):
    Postings.from_matrix(["a", "b"], MATRIX).save(tmp_path)
    match damage:
        case "cut":
            path = tmp_path / "weights.npy"
            path.write_bytes(path.read_bytes()[:100])
        case "fewer terms":
            (tmp_path / "terms.json").write_text('{"rows":2,"terms":["a"]}')
        case _:
            (tmp_path / damage).unlink()
    with pytest.raises(IndexFault):
        Postings.open(tmp_path)


SCORES = np.array([0.5, 0.0, 2.0, 0.5, -1.0, 0.5], dtype=np.float32)


def test_best_rows_leave_out_zero_and_less_and_break_ties_by_row():
    assert best_rows(SCORES, 10) == [(2, 2.0), (0, 0.5), (3, 0.5), (5, 0.5)]


def test_limit_cuts_inside_a_tie_as_the_full_order_does():
    assert best_rows(SCORES, 3) == best_rows(SCORES, 10)[:3]


def test_only_allowed_rows_come_and_ties_may_have_their_own_order():
    allowed = np.array([True, True, False, True, True, True])
    assert best_rows(SCORES, 2, allowed, np.array([9, 1, 2, 5, 4, 3])) == [(5, 0.5), (3, 0.5)]


def test_no_scores_give_no_rows():
    assert best_rows(np.zeros(0, dtype=np.float32), 5) == []
