"""The bundled knowledge base indexed with the embedded default, as `serve` and `ask` find it; no Ollama is there."""

import shutil
from datetime import date
from pathlib import Path

from app.assembly import Assembly
from app.indexing import Indexer
from app.ingest import IngestOptions
from app.settings import Settings
from pipelines.index import silent

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWLEDGE_BASE = ROOT / "storage" / "wissensbasis"
NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing answers there."""


def settings_for(data_dir: Path, kb_dir: Path = KNOWLEDGE_BASE) -> Settings:
    return Settings(kb_dir=kb_dir, data_dir=data_dir, ollama_url=NOBODY, today=date(2026, 6, 15))


def copied(built: Path, data_dir: Path) -> Settings:
    """Settings of an index over the bundled knowledge base in `data_dir`, which becomes a copy of the fixture `bundled_data`."""
    shutil.copytree(built, data_dir, dirs_exist_ok=True)
    return settings_for(data_dir)


def indexed(data_dir: Path, kb_dir: Path = KNOWLEDGE_BASE) -> Settings:
    """Settings whose index is built. Embeddings that another test has computed may be copied into `data_dir` before."""
    settings = settings_for(data_dir, kb_dir)
    with Assembly(settings) as assembly:
        indexer = Indexer(settings, assembly.database, assembly.gateway)
        indexer.ingest(kb_dir, IngestOptions(), full=False, progress=silent)
    return settings


def copy_embeddings(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source / "embeddings", target / "embeddings")
