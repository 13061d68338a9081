"""The command line: one Typer application, its commands and groups."""

import typer

from app.cli import audit, conflicts, docs, endpoints, index, jobs, keys, prompts, tags, users, versions
from app.cli.asking import ask, search
from app.cli.caring import care
from app.cli.editing import gaps_app
from app.cli.ingesting import ingest
from app.cli.operating import doctor, serve

app = typer.Typer(
    name="app",
    help="pv-agent: answers about Austrian payroll, only from your knowledge base, every statement proven.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(serve)
app.command()(ingest)
app.command()(ask)
app.command()(search)
app.command()(doctor)
conflicts.app.command("care")(care)
app.add_typer(conflicts.app, name="conflicts")
app.add_typer(audit.app, name="audit")
app.add_typer(gaps_app, name="gaps")
app.add_typer(docs.app, name="docs")
app.add_typer(versions.app, name="versions")
app.add_typer(jobs.app, name="jobs")
app.add_typer(tags.app, name="tags")
app.add_typer(prompts.app, name="prompts")
app.add_typer(endpoints.app, name="endpoints")
app.add_typer(index.app, name="index")
app.add_typer(keys.app, name="keys")
app.add_typer(users.app, name="users")
