import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

from pipelines.dense import DenseIndex, load_vectors, store_vectors
from pipelines.embeddings import SectionVectors
from pipelines.errors import IndexFault

IDS = ("pv-a-01#b", "pv-a-01#a", "pv-b-01#x")
VECTORS = SectionVectors(np.array([0, 0, 1, 2], dtype=np.int32), np.array([[1, 0], [0, 1], [0, 1], [0.6, 0.8]], dtype=np.float32))
QUERY = np.array([0, 1], dtype=np.float32)


def test_best_vector_of_a_section_counts_and_ties_go_by_node_id():
    assert DenseIndex(VECTORS, IDS).search(QUERY, 3) == [(1, 1.0), (0, 1.0), (2, pytest.approx(0.8))]


def test_sections_that_point_elsewhere_are_not_found():
    assert DenseIndex(VECTORS, IDS).search(np.array([0, -1], dtype=np.float32), 3) == []
    assert DenseIndex(VECTORS, IDS).search(QUERY, 3, np.array([True, False, False])) == [(0, 1.0)]


def test_section_without_vector_is_refused():
    with pytest.raises(IndexFault):
        DenseIndex(VECTORS, (*IDS, "pv-c-01#x"))


def test_queries_asked_together_are_answered_apart():
    found = DenseIndex(VECTORS, IDS).similarities(np.array([[1, 0], [0, 1]], dtype=np.float32))
    alone = [DenseIndex(VECTORS, IDS).similarities(query[None])[0] for query in np.eye(2, dtype=np.float32)]
    assert np.array_equal(found, alone)


def test_query_of_another_dimension_is_refused():
    with pytest.raises(IndexFault):
        DenseIndex(VECTORS, IDS).similarities(np.ones((1, 3), dtype=np.float32))


@pytest.fixture
def collection(tmp_path):
    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    yield client.create_collection("nodes", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    client.close()


def test_stored_vectors_come_back_in_the_order_of_sections(collection):
    store_vectors(collection, VECTORS, IDS, ("h0", "h1", "h2"))
    loaded = load_vectors(collection, {node_id: row for row, node_id in enumerate(IDS)})
    assert loaded.owners.tolist() == VECTORS.owners.tolist()
    assert np.array_equal(loaded.matrix, VECTORS.matrix)
    assert collection.get(ids=["pv-a-01#b~1"])["metadatas"] == [{"node_id": "pv-a-01#b", "part": 1, "text_hash": "h0"}]


def test_vector_of_an_unknown_section_and_an_empty_collection_are_refused(collection):
    with pytest.raises(IndexFault):
        load_vectors(collection, {})
    store_vectors(collection, VECTORS, IDS, ("h0", "h1", "h2"))
    with pytest.raises(IndexFault):
        load_vectors(collection, {"pv-a-01#a": 0})
