"""Whether an Ollama endpoint answers, and what it could answer with."""

from contextlib import closing

from app.store.endpoints import Endpoint
from custom_postprocessors.evidence import Frozen
from pipelines.errors import ModelError
from pipelines.ollama_client import OllamaGateway

TEST_TIMEOUT_SECONDS = 5.0


class EndpointTest(Frozen):
    """What came of a connection test. `models` are those that run on the server itself; `message` is German."""

    ok: bool
    message: str
    version: str = ""
    models: tuple[str, ...] = ()


def run_endpoint_test(endpoint: Endpoint) -> EndpointTest:
    """Asks the server for its version and its models, and whether it has the endpoint's model; generates nothing."""
    with closing(OllamaGateway(endpoint.url, timeout_seconds=TEST_TIMEOUT_SECONDS)) as gateway:
        try:
            version = gateway.version()
            names = tuple(model.name for model in gateway.models() if not model.is_cloud)
            if endpoint.model:
                gateway.local_model(endpoint.model)
        except ModelError as exc:
            return EndpointTest(ok=False, message=str(exc))
    models = "1 lokales Modell" if len(names) == 1 else f"{len(names)} lokale Modelle"
    chosen = f"; {endpoint.model} ist installiert" if endpoint.model else ""
    return EndpointTest(ok=True, message=f"Verbunden, Ollama {version}, {models}{chosen}.", version=version, models=names)
