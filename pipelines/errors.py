"""Every error that the product raises on purpose.

    PvAgentError                   a message says what failed, the value, and what to do
    ├── SettingsError              a PV_* variable is unknown or has a bad value
    ├── BadInput                   the caller's question, option or file is not acceptable (HTTP 422, exit 2)
    ├── Forbidden                  the person or key may not do this (HTTP 403)
    ├── KnowledgeBaseError         the folder as a whole cannot be taken over (registry gate, too many removals, unreadable)
    ├── StoreError                 pv.db cannot be read or written
    │   └── NotFound               no such document, version, job, answer, conflict … (HTTP 404)
    ├── IndexFault                 the index cannot be built, checked or opened
    │   ├── IndexMissing           none was built yet
    │   ├── IndexMismatch          it was built under other settings than it would be opened with
    │   └── IndexBusy              another process is building (exit 1)
    ├── QueueFull                  too many questions wait for the model; nothing was asked (HTTP 429)
    └── ModelError                 the answering or embedding model; never shown as a refusal of the knowledge base
        ├── ModelUnavailable       server not reachable, model missing, cloud model
        └── ModelFailed            it answered, but unusably
            └── GenerationCancelled  nobody waits for the answer any more

A refusal is not an error: see `pipelines.contracts.Refusal`.
"""


class PvAgentError(Exception):
    """Base of the tree. `hint` says what to do next and is part of the message."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class SettingsError(PvAgentError):
    """A PV_* variable is unknown or has a bad value."""


class BadInput(PvAgentError):
    """The caller's input is not acceptable; nothing was done."""


class Forbidden(PvAgentError):
    """Whoever asks may not do this; nothing was done."""


class KnowledgeBaseError(PvAgentError):
    """The folder as a whole cannot be taken over; nothing was changed."""


class StoreError(PvAgentError):
    """pv.db cannot be read or written."""


class NotFound(StoreError):
    """The thing asked for by id does not exist."""


class IndexFault(PvAgentError):
    """The index cannot be built, checked or opened."""


class IndexMissing(IndexFault):
    """No index was built yet."""


class IndexMismatch(IndexFault):
    """The index was built under other settings than it would be opened with."""


class IndexBusy(IndexFault):
    """Another process is building the index."""


class QueueFull(PvAgentError):
    """More questions wait for the model than may; this one was not asked."""


class ModelError(PvAgentError):
    """The answering or embedding model; never shown as a refusal."""


class ModelUnavailable(ModelError):
    """The server cannot be reached, or the model is missing or not allowed."""


class ModelFailed(ModelError):
    """The model answered, but unusably."""


class GenerationCancelled(ModelFailed):
    """Nobody waits for the answer any more; the model was stopped."""
