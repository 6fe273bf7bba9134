"""The counters of the server, for Prometheus."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
ITEMS = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "samekind_requests", "Requests by route and status.", ["route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "samekind_request_seconds",
            "Seconds from the first byte of a request to the last of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._items = Histogram(
            "samekind_embedded_together",
            "Items that were embedded at a time.",
            buckets=ITEMS,
            registry=self.registry,
        )
        self.enrolments = Counter(
            "samekind_enrolments", "Classes that were enrolled here.", registry=self.registry
        )
        self._waiting = Gauge(
            "samekind_waiting", "Requests that wait for the device.", registry=self.registry
        )
        self.classes = Gauge("samekind_classes", "Classes that the space knows.", registry=self.registry)

    def watch(self, waiting: Callable[[], float]) -> None:
        """Where to look how many requests wait."""
        self._waiting.set_function(waiting)

    def answered(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def embedded(self, items: int) -> None:
        if items:
            self._items.observe(items)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)
