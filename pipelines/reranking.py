"""An optional last step of retrieval: a cross-encoder from a local folder puts the best sections into a new order."""

import logging
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.postprocessor import SentenceTransformerRerank
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from pipelines.errors import SettingsError

MOST_RERANKED = 20
_FAILURES = (RuntimeError, ValueError, OSError, MemoryError)
_log = logging.getLogger(__name__)


def load_reranker(model_path: Path) -> BaseNodePostprocessor:
    """The cross-encoder in a local folder; nothing is downloaded and no code of the folder is run.

    Raises:
        SettingsError: there is no such folder, `sentence-transformers` is not installed, or the model cannot be loaded.
    """
    named = f"PV_RERANK_MODEL_PATH has value {str(model_path)!r}"
    if not model_path.is_dir():
        raise SettingsError(f"{named}, which is no folder.", hint="Correct the variable or remove it.")
    try:
        return SentenceTransformerRerank(model=str(model_path), top_n=MOST_RERANKED, trust_remote_code=False)
    except ImportError as exc:
        raise SettingsError(
            f"{named}, but the package sentence-transformers, which it needs, is not installed.",
            hint="Run `pip install sentence-transformers`, or remove the variable.",
        ) from exc
    except _FAILURES as exc:
        raise SettingsError(f"{named}, but the model there cannot be loaded: {exc}.", hint="Check the folder.") from exc


def reranked(nodes: Sequence[NodeWithScore], question: str, reranker: BaseNodePostprocessor) -> list[NodeWithScore]:
    """The first twenty sections in the reranker's order, then the others; none is lost, added or changed.

    A reranker that fails leaves the order of the fusion, which never needs it.
    """
    first = list(nodes[:MOST_RERANKED])
    copies = [NodeWithScore(node=hit.node, score=hit.score) for hit in first]  # rerankers write scores into what they are given
    try:
        order = reranker.postprocess_nodes(copies, query_bundle=QueryBundle(question))
    except _FAILURES as exc:
        _log.warning("The reranker failed, the order of the fusion stays: %s: %s", type(exc).__name__, exc)
        return list(nodes)
    by_id = {hit.node.node_id: hit for hit in first}
    chosen = [by_id[node_id] for node_id in dict.fromkeys(hit.node.node_id for hit in order) if node_id in by_id]
    left = [hit for hit in first if hit.node.node_id not in {hit.node.node_id for hit in order}]
    return [*chosen, *left, *nodes[MOST_RERANKED:]]
