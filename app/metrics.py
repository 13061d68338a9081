"""Counters for Prometheus: how many, how long, how it ended; never a question, a key or an id."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.model_queue import ModelQueue
from pipelines.contracts import Outcome

OTHER_PATH = "other"
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The figures of one process."""

    def __init__(self, queue: ModelQueue) -> None:
        self._registry = CollectorRegistry()
        self._outcomes = Counter(
            "pv_outcomes", "Answers and refusals, chat included.", ("status", "reason", "mode"), registry=self._registry
        )
        self._seconds = Histogram(
            "pv_outcome_seconds", "From question to outcome.", ("mode",), buckets=_SECONDS, registry=self._registry
        )
        self._requests = Counter("pv_api_requests", "Requests to the API.", ("method", "path", "status"), registry=self._registry)
        waiting = Gauge("pv_model_queue_waiting", "Questions that wait for the model.", registry=self._registry)
        waiting.set_function(lambda: queue.waiting)

    def outcome(self, outcome: Outcome) -> None:
        """Counts an outcome."""
        mode = outcome.grounding.mode
        self._outcomes.labels(outcome.status, outcome.refusal_reason or "", mode).inc()
        self._seconds.labels(mode).observe(outcome.timings_ms.total / 1000)

    def request(self, method: str, path: str, status: int) -> None:
        """Counts a request; `path` is that of the route, without ids."""
        self._requests.labels(method, path, str(status)).inc()

    def text(self) -> bytes:
        """The figures in the text format of Prometheus."""
        return generate_latest(self._registry)


class Counted:
    """Counts the requests to an application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request; see ASGI."""
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = scope.get("route")
            method = scope["method"] if route is not None else OTHER_PATH
            self._metrics.request(method, getattr(route, "path", OTHER_PATH), status)
