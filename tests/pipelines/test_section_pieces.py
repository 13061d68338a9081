import numpy as np

from pipelines.pieces import Piece, count_pieces, pieces
from pipelines.section_pieces import SectionPieces
from tests.retrieval_parts import section


def test_counts_are_those_of_the_pieces_in_order_of_first_appearance():
    text = "Der Beitrag, der Beitrag von 1,53 % nach § 6 für MitarbeiterInnen und Mitarbeiter."
    counts = count_pieces(text)
    assert list(counts) == list(dict.fromkeys(pieces(text)))
    assert counts[Piece("word", "Beitrag")] == counts[Piece("word", "Mitarbeiter")] == 2


def test_every_field_is_counted_apart_and_sums_weigh_them():
    read = SectionPieces.read(
        [section("pv-a-01#x", "Urlaub, Urlaub.", title="Urlaub"), section("pv-b-01#x", "Entgelt.", title="Urlaub")]
    )
    column = read.pieces.index(Piece("word", "Urlaub"))
    assert read.counts["title"].toarray()[:, column].tolist() == [1, 1]
    assert read.counts["body"].toarray()[:, column].tolist() == [2, 0]
    assert read.summed({"title": 2, "body": 1}).toarray()[:, column].tolist() == [4, 2]


def test_parts_are_sorted_and_counted_for_every_piece():
    read = SectionPieces.read([section("pv-a-01#x", "ab ba", title="ab")])
    terms, matrix = read.parts(lambda piece: [*piece.text, "b"])
    assert terms == sorted(set("".join(piece.text for piece in read.pieces)) | {"b"})
    assert matrix.toarray()[0, [terms.index("a"), terms.index("b")]].tolist() == [1, 2]


def test_no_sections_are_counts_of_nothing():
    read = SectionPieces.read([])
    terms, matrix = read.parts(lambda piece: [piece.text])
    assert (read.sections, terms, matrix.shape) == (0, [], (0, 0))
    assert np.array_equal(read.summed({"body": 1}).toarray(), np.zeros((0, 0)))
