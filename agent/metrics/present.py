"""The figures that are not counted but looked at: how things are now, as far as that is known."""

from collections.abc import Mapping
from dataclasses import field

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PresentFigures:
    """How things are now. None, or nothing under a name, is what is not known.

    `facts` are the long-term facts in MEMORY.md; `job_failures` the failures in a row by the job's id;
    `node_connected` is None where the node host is switched off, `node_permissions` are the states of its permissions
    ("granted", "denied", …) by name; `alerts` are the numbers of alerts that stand by rule, None without a daemon that
    looks; `patterns_helpful` and `patterns_not_helpful` what the person said of the patterns that stand in their
    profile, and of those that were suggested; `spent` is what models cost today on this machine, in US dollars, and
    `spend_limit` the most that a day may cost.
    """

    facts: int | None = None
    job_failures: Mapping[str, int] = field(default_factory=dict)
    node_connected: bool | None = None
    node_permissions: Mapping[str, str] = field(default_factory=dict)
    alerts: Mapping[str, int] | None = None
    patterns_helpful: int | None = None
    patterns_not_helpful: int | None = None
    spent: float | None = None
    spend_limit: float | None = None
