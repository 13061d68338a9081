"""The index: build a version aside, switch to it, go back, open it. One module per noun lies behind these names."""

from pipelines.index_build import ChannelSuite, IndexRecipe, Progress, build_index, go_back, silent
from pipelines.index_layout import IndexLayout
from pipelines.index_meta import FieldDifference, Fingerprint, IndexMeta, IndexOptions, differences
from pipelines.index_open import OpenIndex, open_index, read_current_meta
from pipelines.node_file import EntryInfo, NodeFile

__all__ = [
    "ChannelSuite",
    "EntryInfo",
    "FieldDifference",
    "Fingerprint",
    "IndexLayout",
    "IndexMeta",
    "IndexOptions",
    "IndexRecipe",
    "NodeFile",
    "OpenIndex",
    "Progress",
    "build_index",
    "differences",
    "go_back",
    "open_index",
    "read_current_meta",
    "silent",
]
