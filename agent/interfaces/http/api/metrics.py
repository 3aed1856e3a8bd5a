"""The counts of events on this machine, for Prometheus."""

from agent.interfaces.http.operation import Call, NoParams, Operation
from agent.memory.counts import count_facts
from agent.metrics.prometheus import format_prometheus
from agent.metrics.totals import load_totals


def metrics(call: Call[NoParams, None]) -> bytes:
    """All counters since the beginning, in Prometheus' text format."""
    workspace = call.service.workspace
    totals = load_totals(workspace.metrics, None)
    return format_prometheus(totals, workspace.vault.place.root.name, count_facts(workspace.vault))


OPERATIONS = (
    Operation("GET", "/api/v1/metrics", "metrics", "The metrics, for Prometheus", metrics, bytes, NoParams,
              content_type="text/plain; version=0.0.4; charset=utf-8"),
)  # fmt: skip
