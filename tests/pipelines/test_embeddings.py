import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pipelines.embedding_cache import EmbeddingCache
from pipelines.embedding_workers import EmbeddingWorkers
from pipelines.embeddings import EmbeddedEncoder, OllamaEncoder, embed_sections
from pipelines.errors import IndexFault, ModelFailed, ModelUnavailable
from tests.fake_encoder import FakeEncoder
from tests.retrieval_parts import section

SECTIONS = [
    section("pv-a-01#zusammenfassung", "Die Kündigung.", title="Ende"),
    section("pv-b-01#zusammenfassung", "\n\n".join(f"Absatz {n} " + f"wort{n} " * 80 for n in range(9)), title="Lang"),
]


def quiet(stage, done, total):
    pass


@pytest.fixture(scope="module")
def embedded() -> EmbeddedEncoder:
    return EmbeddedEncoder()


def test_embedded_encoder_gives_unit_vectors_and_knows_related_words(embedded):
    vectors = embedded.encode(
        ["Wie lang ist die Kündigungsfrist?", "Frist für die Auflösung des Arbeitsverhältnisses", "Rezept für Apfelkuchen"]
    )
    assert vectors.shape == (3, 512) == (3, embedded.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_vector_does_not_depend_on_the_other_texts(embedded):
    texts = [section.text for section in SECTIONS]
    assert np.array_equal(embedded.encode(texts)[1], embedded.encode(texts[1:])[0])
    assert embedded.encode([]).shape == (0, 512)


def test_embedded_encoder_is_a_llama_index_embedding(embedded):
    assert embedded.get_query_embedding("Lohn") == pytest.approx(embedded.encode_query("Lohn").tolist())
    assert embedded.get_text_embedding_batch(["Lohn", "Gehalt"])[1] == pytest.approx(embedded.encode_query("Gehalt").tolist())


def test_queries_of_one_question_are_encoded_together_and_always_the_same(embedded):
    texts = ["Wie hoch ist das Taggeld?", "Nächtigungsgeld im Ausland"]
    together = embedded.encode_queries(texts)
    assert np.array_equal(together, embedded.encode_queries(texts))
    assert together == pytest.approx(embedded.encode(texts), abs=1e-5)


def test_many_threads_get_the_same_vectors(embedded):
    texts = [f"Frage {n} zur Sonderzahlung" for n in range(16)]
    expected = embedded.encode(texts)
    with ThreadPoolExecutor(8) as pool:
        found = np.vstack(list(pool.map(embedded.encode_query, texts)))
    assert np.array_equal(found, expected)


def test_worker_processes_give_the_same_vectors(embedded):
    texts = [f"Text {n} über die Abfertigung" for n in range(5)]
    with EmbeddingWorkers(2) as workers:
        found = dict(workers.encode_batches(texts, 2))
    assert sorted(found) == [0, 2, 4]
    assert np.allclose(np.vstack([found[start] for start in sorted(found)]), embedded.encode(texts), atol=1e-6)


def encode_with_a_dead_worker():
    with EmbeddingWorkers(1) as workers:
        workers._workers[0].kill()
        workers._workers[0].wait()
        list(workers.encode_batches(["Text"], 1))


def test_dead_worker_is_an_error_and_not_a_hang():
    with pytest.raises(ModelFailed):
        encode_with_a_dead_worker()


def test_sections_get_one_to_four_vectors_in_their_order(tmp_path):
    vectors = embed_sections(SECTIONS, FakeEncoder(), EmbeddingCache(tmp_path), quiet)
    assert vectors.owners.tolist() == [0, 1, 1, 1, 1]
    assert vectors.matrix.shape == (5, 64)


def test_only_what_changed_is_encoded_again(tmp_path):
    cache = EmbeddingCache(tmp_path)
    first = embed_sections(SECTIONS, FakeEncoder(), cache, quiet)
    unchanged = FakeEncoder()
    assert np.array_equal(embed_sections(SECTIONS, unchanged, cache, quiet).matrix, first.matrix)
    assert unchanged.encoded == []
    changed = FakeEncoder()
    embed_sections([section("pv-a-01#zusammenfassung", "Der Austritt.", title="Ende"), SECTIONS[1]], changed, cache, quiet)
    assert changed.encoded == ["Ende\nZusammenfassung\n\nDer Austritt."]


def test_progress_counts_the_texts_to_encode(tmp_path):
    calls = []
    embed_sections(SECTIONS, FakeEncoder(), EmbeddingCache(tmp_path), lambda *call: calls.append(call))
    assert calls == [("embed", 0, 5), ("embed", 5, 5)]


def test_failing_encoder_is_an_error(tmp_path):
    with pytest.raises(ModelUnavailable):
        embed_sections(SECTIONS, FakeEncoder(fails=True), EmbeddingCache(tmp_path), quiet)


def test_cache_keeps_models_apart(tmp_path):
    cache = EmbeddingCache(tmp_path)
    cache.put_many("one", {"k": np.ones(3, dtype=np.float32)})
    assert cache.get_many("two", ["k"]) == {}
    assert cache.get_many("one", ["k", "l"])["k"].tolist() == [1.0, 1.0, 1.0]


def test_damaged_cache_is_reported(tmp_path):
    cache = EmbeddingCache(tmp_path)
    cache.put_many("one", {"k": np.ones(3, dtype=np.float32)})
    (path,) = tmp_path.glob("*.sqlite")
    for extra in tmp_path.glob("*.sqlite-*"):
        extra.unlink()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(IndexFault):
        cache.get_many("one", ["k"])


def test_two_caches_on_one_folder_see_each_other(tmp_path):
    EmbeddingCache(tmp_path).put_many("one", {"k": np.zeros(2, dtype=np.float32)})
    assert list(EmbeddingCache(tmp_path).get_many("one", ["k"])) == ["k"]
    (path,) = tmp_path.glob("*.sqlite")
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize("model", ["bge-m3:cloud", "x:120b-cloud"])
def test_cloud_models_are_refused(model):
    with pytest.raises(ModelUnavailable):
        OllamaEncoder(model, "http://127.0.0.1:9")


def test_unreachable_server_is_model_unavailable():
    with pytest.raises(ModelUnavailable):
        OllamaEncoder("bge-m3", "http://127.0.0.1:9").encode(["Lohn"])
