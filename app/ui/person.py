"""Who triggered an event of the interface."""

import gradio as gr

from app.access.person import NOBODY, Person


def person_of(request: gr.Request) -> Person:
    """The person whom the guard of the page recognised; `NOBODY`, without any role, where it recognised none.

    A handler gets the request by declaring a parameter `request: gr.Request`. In queued events it is the request that
    joined the queue, which passed the guard like any other.
    """
    inner = request.request
    if inner is None:
        return NOBODY
    found = inner.scope.get("state", {}).get("person")
    return found if isinstance(found, Person) else NOBODY
