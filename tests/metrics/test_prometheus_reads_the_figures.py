"""What `metrics --prometheus` prints is the text format 0.0.4, whatever names a model or a person has thought of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.app.open import open_workspace
from agent.escape import escape_line
from agent.events.bus import Handled
from agent.events.runs import MemoryCaptured, MemoryRecalled, ToolCallFailed
from agent.interfaces.cli.main import main
from agent.metrics.collect import Collector
from agent.metrics.families import PresentFigures, format_prometheus
from agent.metrics.names import Durations
from agent.metrics.totals import MetricTotals
from tests.metrics.test_figures_add_up import ENDED

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')
_SAMPLE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (\S+)")
_ENDS = {"counter": {""}, "gauge": {""}, "summary": {"_sum", "_count"}, "histogram": {"_bucket", "_sum", "_count"}}

Labels = frozenset[tuple[str, str]]


@dataclass
class Metric:
    kind: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)


def parse(data: bytes) -> Mapping[str, Metric]:
    """The metrics of a text in the format 0.0.4, strictly: each once, HELP and TYPE first, no series twice."""
    text = data.decode("utf-8")
    assert not text or text.endswith("\n")
    found: dict[str, Metric] = {}
    helped = current = ""
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            helped, what = line[7:].split(" ", 1)
            assert what and helped not in found
        elif line.startswith("# TYPE "):
            current, kind = line[7:].split(" ")
            assert current == helped and kind in _ENDS
            found[current] = Metric(kind)
        else:
            sample = _SAMPLE.fullmatch(line)
            assert sample is not None and sample[1].startswith(current), line
            labels = _labels(sample[2] or "")
            key = sample[1].removeprefix(current), labels
            assert key[0] in _ENDS[found[current].kind] and key not in found[current].samples, line
            found[current].samples[key] = float(sample[3])
    for name, metric in found.items():
        assert metric.samples and (metric.kind == "counter") == name.endswith("_total")
        if metric.kind == "histogram":
            _check_histogram(metric)
    return found


def _labels(text: str) -> Labels:
    at, pairs = 0, []
    while at < len(text):
        label = _LABEL.match(text, at)
        assert label is not None, text[at:]
        pairs.append((label[1], re.sub(r"\\(.)", lambda each: {"n": "\n"}.get(each[1], each[1]), label[2])))
        at = label.end()
    assert len({name for name, _ in pairs}) == len(pairs)
    return frozenset(pairs)


def _check_histogram(metric: Metric) -> None:
    series: dict[Labels, list[tuple[float, float]]] = {}
    for (end, labels), value in metric.samples.items():
        if end == "_bucket":
            (bound,) = (float(text) for name, text in labels if name == "le")
            series.setdefault(frozenset(pair for pair in labels if pair[0] != "le"), []).append((bound, value))
    for labels, buckets in series.items():
        counts = [count for _, count in sorted(buckets)]
        assert counts == sorted(counts) and buckets[-1][0] == float("inf")
        assert metric.samples["_count", labels] == counts[-1] and ("_sum", labels) in metric.samples


@given(st.dictionaries(st.text(), st.integers(0, 10**12).map(float), max_size=5), st.text())
def test_any_names_of_tools_and_vaults_are_read_back(used: dict[str, float], vault: str) -> None:
    used = {escape_line(name): number for name, number in used.items()}
    text = format_prometheus(MetricTotals(used=used), PresentFigures(), vault)
    metric = parse(text).get("vault_agent_tool_calls_total")
    shown = {} if metric is None else {dict(labels)["tool"]: value for (_, labels), value in metric.samples.items()}
    sent = {name.encode("utf-8", "replace").decode(): number for name, number in used.items()}
    assert shown == sent
    vaults = {dict(labels)["vault"] for _, labels in (metric.samples if metric else ())}
    assert vaults <= {escape_line(vault).encode("utf-8", "replace").decode()}


def test_every_kind_of_metric_is_read_back() -> None:
    times = Durations({"0.02": 3, "inf": 1}, 20.5)
    totals = MetricTotals(
        modes={"hybrid": 4}, recall=times, handlers={"flush": times, "skills": times}, recall_hits=3,
        entries_saved=2, entries_known=0, counted_entries=2, entry_tokens=31,
    )  # fmt: skip
    found = parse(format_prometheus(totals, PresentFigures(7), "notes"))
    own = ("vault", "notes")
    assert {name: metric.kind for name, metric in found.items()} == {
        "vault_agent_recalls_total": "counter",
        "vault_agent_recalls_with_result_total": "counter",
        "vault_agent_recall_seconds": "histogram",
        "vault_agent_entries_total": "counter",
        "vault_agent_entry_tokens": "summary",
        "vault_agent_memory_longterm_facts_count": "gauge",
        "vault_agent_event_bus_handler_latency_seconds": "histogram",
    }
    assert found["vault_agent_memory_longterm_facts_count"].samples == {("", frozenset({own})): 7}
    recall = found["vault_agent_recall_seconds"].samples
    assert recall["_bucket", frozenset({own, ("le", "0.015")})] == 0
    assert recall["_bucket", frozenset({own, ("le", "0.2")})] == 3
    assert recall["_bucket", frozenset({own, ("le", "+Inf")})] == recall["_count", frozenset({own})] == 4
    entries = found["vault_agent_entries_total"].samples
    assert entries == {("", frozenset({own, ("result", "new")})): 2, ("", frozenset({own, ("result", "known")})): 0}


def test_the_command_prints_it_and_a_scraper_finds_the_figures(
    capfdbinary: pytest.CaptureFixture[bytes], root: object
) -> None:
    workspace = open_workspace(root)  # type: ignore[arg-type]
    collector = Collector(workspace.metrics, workspace.clock)
    collector.handled(Handled("flush", 0.25))
    collector.hear(MemoryRecalled("r", "s", 2, "hybrid", "", 0.01))
    collector.hear(ToolCallFailed("r", "s", "1", 'a "tool"\x1b[8m\\', 0.1, "no", denied=True))
    collector.hear(MemoryCaptured("r", "s", 1, known=2, tokens=9))
    collector.hear(ENDED)
    collector.save()
    assert main(["metrics", "--prometheus"]) == 0
    found = parse(capfdbinary.readouterr().out)
    own = ("vault", workspace.vault.place.root.name)
    denied = found["vault_agent_tool_policy_denied_total"].samples
    assert denied == {("", frozenset({own, ("tool", 'a "tool"\\x1b[8m\\')})): 1}
    assert found["vault_agent_runs_total"].samples == {("", frozenset({own, ("outcome", "finished")})): 1}
    assert "vault_agent_event_bus_handler_latency_seconds" in found and "vault_agent_recall_seconds" in found


@pytest.mark.parametrize(
    "words", [["metrics", "--prometheus", "--since", "today"], ["--json", "metrics", "--prometheus"]]
)
def test_counters_are_never_of_a_part_of_the_days(words: list[str], root: object) -> None:
    assert main(words) == 2
