"""What the tab Verwaltung may ask of the server; everything the page sends is checked here."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from app.store.conflicts import CareStatus
from app.store.feedback import GapStatus
from app.store.guidance import MAX_GUIDANCE_CHARACTERS, Purpose
from app.store.tags import TagKind
from custom_postprocessors.evidence import ConflictStatus, Frozen
from pipelines.entry_schema import MAX_FILE_BYTES
from pipelines.errors import BadInput

View = Literal["documents", "jobs", "tags", "conflicts", "gaps", "index", "prompts", "endpoints"]
_Id = Annotated[str, Field(min_length=1, max_length=100)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Note = Annotated[str, Field(max_length=500)]
_Text = Annotated[str, Field(max_length=2000)]
_Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
_Ticked = Literal["", "on"]


class Show(Frozen):
    """Open a view."""

    do: Literal["view"]
    view: View


class Find(Frozen):
    """List documents."""

    do: Literal["find"]
    text: Annotated[str, Field(max_length=200)] = ""
    topic: Annotated[str, Field(max_length=100)] = ""
    state: Literal["", "active", "removed", "diverged", "unserved"] = ""
    page: Annotated[int, Field(ge=1, le=10_000)] = 1


class OpenDocument(Frozen):
    """One document with its versions."""

    do: Literal["document"]
    entry: _Id


class Diff(Frozen):
    """What differs between two versions."""

    do: Literal["diff"]
    entry: _Id
    old: _Number
    new: _Number


class Upload(Frozen):
    """A file, in Base64."""

    do: Literal["upload"]
    file: Annotated[str, Field(min_length=1, max_length=255)]
    data: Annotated[str, Field(max_length=MAX_FILE_BYTES * 4 // 3 + 8)]
    note: _Note = ""
    activate: _Ticked = ""


class Activate(Frozen):
    """Serve a version."""

    do: Literal["activate"]
    entry: _Id
    number: _Number
    note: _Note = ""


class TakeOut(Frozen):
    """Serve a document no longer."""

    do: Literal["take-out"]
    entry: _Id
    note: _Note = ""


class Ingest(Frozen):
    """Take the folder over."""

    do: Literal["ingest"]
    decision: Literal["report", "take_folder", "keep_catalogue"] = "report"
    removals: _Ticked = ""
    full: _Ticked = ""
    evaluate: _Ticked = ""


class Rebuild(Frozen):
    """Build the index of what is active."""

    do: Literal["rebuild"]
    full: _Ticked = ""


class Evaluate(Frozen):
    """Evaluate the served index version and the one before."""

    do: Literal["evaluate"]


class OpenJob(Frozen):
    """One job with its log."""

    do: Literal["job"]
    job: _Number


class Live(Frozen):
    """How far the jobs are; of one of them also its log."""

    do: Literal["live"]
    job: _Number | None = None


class OpenTag(Frozen):
    """One managed tag."""

    do: Literal["tag"]
    kind: TagKind
    name: _Name


class TagCreate(Frozen):
    """Make a tag, with entries separated by commas or blanks."""

    do: Literal["tag-create"]
    kind: TagKind
    name: _Name
    entries: Annotated[str, Field(max_length=20_000)] = ""


class TagAssign(Frozen):
    """Give a tag to entries."""

    do: Literal["tag-assign"]
    kind: TagKind
    name: _Name
    entries: Annotated[str, Field(min_length=1, max_length=20_000)]


class TagUnassign(Frozen):
    """Take a tag from an entry."""

    do: Literal["tag-unassign"]
    kind: TagKind
    name: _Name
    entry: _Id


class TagRemove(Frozen):
    """Remove a tag."""

    do: Literal["tag-remove"]
    kind: TagKind
    name: _Name


class TagMerge(Frozen):
    """Merge a tag into another."""

    do: Literal["tag-merge"]
    kind: TagKind
    name: _Name
    into: _Name


class TagAdopt(Frozen):
    """Make a managed tag of a suggestion, with its entries."""

    do: Literal["tag-adopt"]
    kind: TagKind
    name: _Name


class TagsRebuild(Frozen):
    """Build the tag index."""

    do: Literal["tags-rebuild"]


class Care(Frozen):
    """Owner, status and note of a conflict."""

    do: Literal["care"]
    conflict: _Id
    owner: Annotated[str, Field(max_length=100)] = ""
    status: CareStatus = "open"
    note: _Text = ""


class Judge(Frozen):
    """Whether a conflict is open, explained or none; answers follow it with the next index."""

    do: Literal["judge"]
    conflict: _Id
    verdict: ConflictStatus
    note: _Text = ""


class SetGap(Frozen):
    """Owner, status and remark of a gap."""

    do: Literal["gap"]
    gap: _Number
    owner: Annotated[str, Field(max_length=100)] = ""
    status: GapStatus = "open"
    remark: _Text = ""


class Rollback(Frozen):
    """Serve the index version before."""

    do: Literal["rollback"]


class PromptAdd(Frozen):
    """A new version of the guidance, used at once."""

    do: Literal["prompt-add"]
    purpose: Purpose
    guidance: Annotated[str, Field(max_length=2 * MAX_GUIDANCE_CHARACTERS)]
    note: _Note = ""


class PromptActivate(Frozen):
    """Use a version of the guidance."""

    do: Literal["prompt-activate"]
    purpose: Purpose
    number: _Number


class EndpointAdd(Frozen):
    """A new endpoint or version of one."""

    do: Literal["endpoint-add"]
    name: _Name
    url: Annotated[str, Field(min_length=1, max_length=1000)]
    model: Annotated[str, Field(max_length=200)] = ""
    note: _Note = ""


class EndpointActivate(Frozen):
    """Ask another endpoint."""

    do: Literal["endpoint-activate"]
    name: _Name
    number: _Number


class EndpointTry(Frozen):
    """Test a connection."""

    do: Literal["endpoint-test"]
    name: _Name
    number: _Number


Looking = Show | Find | OpenDocument | Diff | OpenJob | OpenTag
Changing = (
    Upload
    | Activate
    | TakeOut
    | Ingest
    | Rebuild
    | Evaluate
    | TagCreate
    | TagAssign
    | TagUnassign
    | TagRemove
    | TagMerge
    | TagAdopt
    | TagsRebuild
    | Care
    | Judge
    | SetGap
)
Governing = Rollback | PromptAdd | PromptActivate | EndpointAdd | EndpointActivate | EndpointTry
"""What only an administrator may do."""
_COMMANDS: TypeAdapter[Looking | Changing | Governing | Live] = TypeAdapter(
    Annotated[Looking | Changing | Governing | Live, Field(discriminator="do")]
)


def read_manage_command(raw: str) -> Looking | Changing | Governing | Live:
    """The command in the script's JSON.

    Raises:
        BadInput: it is no known command, or a field is missing, too long or of the wrong kind.
    """
    try:
        return _COMMANDS.validate_json(raw)
    except ValidationError as exc:
        raise BadInput("Die Eingabe ist unvollständig oder zu lang.", hint="Bitte die Felder prüfen.") from exc
