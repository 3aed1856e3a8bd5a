"""The metrics in Prometheus' text format, version 0.0.4, for a scraper or node_exporter's textfile collector.

Every sample has the label `vault`, the name of the vault's folder: the textfile collector adds no labels of its own, so
the files of two vaults on one machine would otherwise hold the same series twice. The folder's path is left out: it
names the person's home. Counters are totals of all days, so that they only grow. What is not known has no sample.
"""

from agent.escape import escape_line
from agent.metrics.families import FAMILIES, MetricFamily, MetricInput
from agent.metrics.present import PresentFigures
from agent.metrics.totals import MetricTotals

PREFIX = "vault_agent_"


def format_prometheus(totals: MetricTotals, present: PresentFigures, vault: str) -> bytes:
    """The text of all metrics of the vault of this name."""
    given = MetricInput(totals, present)
    return "".join(_format(each, given, vault) for each in FAMILIES).encode("utf-8", "replace")


def _format(family: MetricFamily, given: MetricInput, vault: str) -> str:
    """The lines of one metric; nothing for one without samples."""
    samples = tuple(family.samples(given))
    if not samples:
        return ""
    name = f"{PREFIX}{family.name}"
    lines = [f"# HELP {name} {family.help}", f"# TYPE {name} {family.kind}"]
    for end, labels, value in samples:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in {"vault": vault, **labels}.items())
        lines.append(f"{name}{end}{{{shown}}} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """The text on one line and without active characters, which a model may put into the name of a tool."""
    return escape_line(text).replace("\\", "\\\\").replace('"', '\\"')
