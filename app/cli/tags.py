"""`tags`: the tags and topics that editors manage, and the tag index that questions are routed by."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, get_args

import typer

from app.assembly import Assembly
from app.cli.docs import AuthorOption, JsonOption, NoteOption
from app.console import configure_logging, print_json, reported_errors, say
from app.settings import Settings
from app.store.documents import Change
from app.store.tags import TagKind
from pipelines.entry_file import parse_entry
from pipelines.errors import BadInput, IndexBusy

app = typer.Typer(
    help="Managed tags and topics: list, suggest, create, assign, unassign, remove, merge, rebuild, history.",
    no_args_is_help=True,
)
NameArgument = Annotated[str, typer.Argument(help="Name of the tag; case does not matter.", show_default=False)]
EntriesArgument = Annotated[list[str], typer.Argument(help="Ids of entries, e.g. pv-sv-05.", show_default=False)]
KindOption = Annotated[str, typer.Option("--kind", help="tag or topic.")]
BuildOption = Annotated[bool, typer.Option("--build/--no-build", help="Build the tag index at once, so that it takes effect.")]


@app.command("list")
def list_tags(as_json: JsonOption = False) -> None:
    """List the managed tags and topics with their entries."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = assembly.tags.list()
        if not assembly.tag_indexer().is_current():
            say("The tag index is older than these tags: `python -m app tags rebuild`.")
    if as_json:
        print_json([tag.model_dump(mode="json") for tag in found])
    for tag in () if as_json else found:
        typer.echo(f"{tag.kind:<5} {tag.name}: {', '.join(tag.entries) or '–'}")


@app.command()
def suggest(as_json: JsonOption = False) -> None:
    """List the tags and topics in the frontmatter of active entries that are not managed yet."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = assembly.tags.suggestions(
            (entry.id, entry.topic, entry.tags)
            for entry_id, _, content in assembly.catalogue.active_contents()
            if (entry := parse_entry(f"{entry_id}.md", content.encode("utf-8")).entry) is not None
        )
    if as_json:
        print_json([one.model_dump(mode="json") for one in found])
    for one in () if as_json else found:
        typer.echo(f"{one.kind:<5} {one.name}: {len(one.entries)} entries")


@app.command()
def create(
    name: NameArgument,
    entries: Annotated[list[str] | None, typer.Argument(help="Entries that get it.", show_default=False)] = None,
    kind: KindOption = "tag",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    build: BuildOption = True,
) -> None:
    """Make a tag or topic, and give it to entries."""
    with _changed(build) as assembly:
        tag = assembly.tags.create(name, Change(author, note), kind=_kind(kind), entries=entries or ())
        typer.echo(f"{tag.kind} {tag.name}: {', '.join(tag.entries) or '–'}")


@app.command()
def assign(
    name: NameArgument,
    entries: EntriesArgument,
    kind: KindOption = "tag",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    build: BuildOption = True,
) -> None:
    """Give a tag to entries."""
    with _changed(build) as assembly:
        tag = assembly.tags.assign(name, entries, Change(author, note), kind=_kind(kind))
        typer.echo(f"{tag.kind} {tag.name}: {', '.join(tag.entries)}")


@app.command()
def unassign(
    name: NameArgument,
    entries: EntriesArgument,
    kind: KindOption = "tag",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    build: BuildOption = True,
) -> None:
    """Take a tag from entries."""
    with _changed(build) as assembly:
        tag = assembly.tags.unassign(name, entries, Change(author, note), kind=_kind(kind))
        typer.echo(f"{tag.kind} {tag.name}: {', '.join(tag.entries) or '–'}")


@app.command()
def remove(
    name: NameArgument,
    kind: KindOption = "tag",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    build: BuildOption = True,
) -> None:
    """Remove a tag from all entries and from the list."""
    with _changed(build) as assembly:
        assembly.tags.remove(name, Change(author, note), kind=_kind(kind))


@app.command()
def merge(
    name: NameArgument,
    into: Annotated[str, typer.Argument(help="The tag that stays.", show_default=False)],
    kind: KindOption = "tag",
    author: AuthorOption = "command line",
    note: NoteOption = "",
    build: BuildOption = True,
) -> None:
    """Give all entries of one tag to another one, and remove the first."""
    with _changed(build) as assembly:
        tag = assembly.tags.merge(name, into, Change(author, note), kind=_kind(kind))
        typer.echo(f"{tag.kind} {tag.name}: {', '.join(tag.entries) or '–'}")


@app.command()
def rebuild(as_json: JsonOption = False) -> None:
    """Build the tag index of the managed tags where it is not the served one."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        with Assembly(settings) as assembly:
            done = assembly.run_now("tags", requested_by="command line", reason="tags rebuild")
        if as_json:
            print_json(done.model_dump(mode="json"))
        else:
            result = done.result or {}
            typer.echo(f"Served: tag index {result.get('tag_index_version')}, {result.get('tags')} tags (job {done.id})")


@app.command()
def history(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many of the newest steps.")] = 20, as_json: JsonOption = False
) -> None:
    """What was done to the tags, when and by whom, newest first."""
    with reported_errors(), Assembly(Settings.load()) as assembly:
        found = assembly.tags.history(limit=limit)
    if as_json:
        print_json([step.model_dump(mode="json") for step in found])
    for step in () if as_json else found:
        typer.echo(f"{step.created_at:%Y-%m-%d %H:%M} {step.author}: {step.action} {step.tag} {step.detail}".rstrip())


@contextmanager
def _changed(build: bool) -> Iterator[Assembly]:
    """An assembly for a change of the tags; at the end the tag index is built, or a job asked for that follows."""
    with reported_errors():
        settings = Settings.load()
        configure_logging(settings.log_level)
        with Assembly(settings) as assembly:
            yield assembly
            if not build:
                return
            try:
                done = assembly.run_now("tags", requested_by="command line", reason="tags changed")
            except IndexBusy as exc:
                queued = assembly.jobs.request("tags", requested_by="command line", reason="tags changed")
                say(f"{exc.message} Job {queued.id} follows it.")
            else:
                say(f"Served: tag index {(done.result or {}).get('tag_index_version')} (job {done.id}).")


def _kind(value: str) -> TagKind:
    for known in get_args(TagKind):
        if value == known:
            return known  # type: ignore[no-any-return]
    raise BadInput(f"--kind has value {value!r}.", hint=f"Use {' or '.join(get_args(TagKind))}.")
