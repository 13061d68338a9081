import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pipelines.embedding_cache import EmbeddingCache
from pipelines.errors import IndexFault, IndexMismatch
from pipelines.index import IndexOptions, IndexRecipe, OpenIndex, build_index, open_index
from pipelines.index_channels import Channels, RetrievalSuite, fingerprint_of, open_channels
from tests.fake_encoder import FakeEncoder
from tests.pipelines.test_index import corpus

NODES = [node for number in range(1, 7) for node in corpus(f"pv-a-{number:02d}", text=f"Der Satz beträgt {number},10 €.")]


def recipe(data_dir: Path) -> IndexRecipe:
    encoder = FakeEncoder()
    return IndexRecipe(IndexOptions(fingerprint_of(encoder)), RetrievalSuite(encoder, EmbeddingCache(data_dir / "embeddings")))


def opened(data_dir: Path) -> OpenIndex[Channels]:
    return open_index(data_dir, fingerprint_of(FakeEncoder()), open_channels)


def ranking(index: OpenIndex[Channels], question: str) -> list[list[tuple[int, float]]]:
    channels = index.channels
    analysis = channels.analyzer.query_tokens(question)
    found = [channels.lexical.search(analysis, 20), channels.typo.search(analysis, 20)]
    return [*found, channels.dense.search(FakeEncoder().encode_query(question), 20)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = tmp_path_factory.mktemp("index")
    build_index(NODES, data_dir, recipe(data_dir))
    return data_dir


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "data")
    return tmp_path / "data"


def test_every_channel_has_a_row_for_every_section(built: Path) -> None:
    with opened(built) as index:
        rows = [
            index.channels.lexical.rows,
            index.channels.typo.rows,
            index.channels.dense.rows,
            index.channels.analyzer.sections,
        ]
        assert rows == [len(NODES)] * 4
        assert index.channels.lexical.search(index.channels.analyzer.query_tokens("3,10 Satz"), 1)[0][0] == 4


def test_another_build_of_the_same_ranks_the_same(built: Path, tmp_path: Path) -> None:
    build_index(NODES, tmp_path, recipe(tmp_path))
    with opened(built) as one, opened(tmp_path) as other:
        for question in ("Satz 3,10", "Geringfügigkeitsgrenze", "beträgt", "Grenze pv-a-05", "Saz beträgt"):
            assert ranking(one, question) == ranking(other, question)


def test_opening_twice_gives_the_same_vectors_in_the_same_rows(built: Path) -> None:
    with opened(built) as one, opened(built) as other:
        query = FakeEncoder().encode(["Satz"])
        assert np.array_equal(one.channels.dense.similarities(query), other.channels.dense.similarities(query))


def test_threads_open_one_version_at_the_same_time(built: Path) -> None:
    def rows(_: int) -> int:
        with opened(built) as index:
            return index.channels.dense.rows

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(rows, range(80))) == {len(NODES)}


def test_another_encoder_is_refused(built: Path) -> None:
    wanted = fingerprint_of(FakeEncoder()).model_copy(update={"embedding_digest": "other weights"})
    with pytest.raises(IndexMismatch, match="embedding_digest"):
        open_index(built, wanted, open_channels)


def version_dir(data_dir: Path) -> Path:
    return data_dir / "index" / (data_dir / "index" / "CURRENT").read_text(encoding="utf-8").strip()


def change_chroma(data_dir: Path, statement: str) -> None:
    with sqlite3.connect(version_dir(data_dir) / "chroma" / "chroma.sqlite3") as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


def test_a_text_hash_that_differs_in_chroma_fails_the_check(copied: Path) -> None:
    suite = recipe(copied).suite
    with opened(copied) as index:
        suite.check(index.nodes, version_dir(copied))
        change_chroma(copied, "UPDATE embedding_metadata SET string_value = 'x' WHERE key = 'text_hash' AND id = 3")
        with pytest.raises(IndexFault, match="with the hash of its text"):
            suite.check(index.nodes, version_dir(copied))


@pytest.mark.parametrize("name", ["bm25", "typo", "chroma", "vocabulary.json"])
def test_a_missing_channel_is_found_when_the_version_is_opened(copied: Path, name: str) -> None:
    path = version_dir(copied) / name
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    with pytest.raises(IndexFault):
        opened(copied)


def test_a_channel_of_another_version_is_found(copied: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    build_index(NODES[:6], other, recipe(other))
    shutil.rmtree(version_dir(copied) / "bm25")
    shutil.copytree(version_dir(other) / "bm25", version_dir(copied) / "bm25")
    with pytest.raises(IndexFault, match="do not fit together"):
        opened(copied)
