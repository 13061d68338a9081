"""What is served: search, entries, conflicts."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from app.api.bodies import SearchQuery
from app.api.parts import Parts
from app.api.views import ConflictList, EntrySectionView, EntrySourceView, EntryView
from app.store.documents import Catalogue
from pipelines.entry_file import SUFFIX, parse_entry
from pipelines.errors import NotFound
from pipelines.intake import read_question
from pipelines.search import SearchResult

router = APIRouter(tags=["Wissensbasis"])


@router.get("/v1/search", summary="Abschnitte suchen")
def search(parts: Parts, asked: Annotated[SearchQuery, Query()]) -> SearchResult:
    """The best sections with the score of every channel; nothing is generated and nothing is written to the audit log."""
    question = read_question(asked.query, as_of=asked.as_of, scopes=asked.scopes)
    return parts.ready_service().find(question, asked.k)


@router.get("/v1/entries/{entry_id}", summary="Ein Eintrag, wie er geliefert wird")
def entry(entry_id: Annotated[str, Path(max_length=100)], parts: Parts) -> EntryView:
    """An entry of the served index with the texts that citations count in."""
    index = parts.ready_service().engine.index
    info = index.entries.get(entry_id)
    if info is None:
        raise NotFound(f"The served index has no entry {entry_id!r}.")
    return EntryView(
        entry_id=entry_id,
        title=info.title,
        stand=info.stand,
        work=info.work,
        topic=info.topic,
        tags=info.tags,
        legal_bases=info.legal_bases,
        cross_refs=info.cross_refs,
        sources=_sources(parts.catalogue, entry_id),
        sections=tuple(
            EntrySectionView(node_id=node.node_id, section=node.section, text=node.text, text_hash=node.text_hash)
            for node in index.sections_of(entry_id)
        ),
        index_version=index.version,
    )


@router.get("/v1/conflicts", summary="Widersprüche zwischen Einträgen")
def conflicts(parts: Parts, all: Annotated[bool, Query(description="Also those that were dismissed.")] = False) -> ConflictList:
    """The conflict register of the served index."""
    index = parts.ready_service().engine.index
    shown = tuple(conflict for conflict in index.conflicts if all or conflict.status != "dismissed")
    return ConflictList(conflicts=shown, index_version=index.version)


def _sources(catalogue: Catalogue, entry_id: str) -> tuple[EntrySourceView, ...]:
    try:
        content = catalogue.content(entry_id)
    except NotFound:
        return ()
    found = parse_entry(entry_id + SUFFIX, content.encode("utf-8")).entry
    sources = found.sources if found else ()
    return tuple(EntrySourceView(publisher=s.publisher, title=s.title, url=s.url, as_of=s.as_of) for s in sources)
