"""Gradio's switches that are environment variables only; this module imports no Gradio."""

import os

_SWITCHES = {
    "GRADIO_ANALYTICS_ENABLED": "False",  # no telemetry, no version check
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "GRADIO_ANALYTICS_MAX_EVENTS": "1",
    # Gradio summarises all past events with pandas after each event, for a monitoring page that is switched off here.
    "GRADIO_ANALYTICS_CACHE_FREQUENCY": "1000000000",
}


def keep_gradio_local() -> None:
    """Switches telemetry, hub access and event statistics off; to be called before Gradio is imported.

    Overwrites what the environment says: the product connects to nothing but its Ollama.
    """
    os.environ.update(_SWITCHES)
