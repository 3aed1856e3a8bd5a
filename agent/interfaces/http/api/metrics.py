"""The counts of events on this machine, for Prometheus."""

from agent.app.figures import prometheus_text
from agent.interfaces.http.operation import Call, NoParams, Operation


def metrics(call: Call[NoParams, None]) -> bytes:
    """All counters since the beginning and how things are now, in Prometheus' text format."""
    return prometheus_text(call.service.workspace)


OPERATIONS = (
    Operation("GET", "/api/v1/metrics", "metrics", "The metrics, for Prometheus", metrics, bytes, NoParams,
              content_type="text/plain; version=0.0.4; charset=utf-8"),
)  # fmt: skip
