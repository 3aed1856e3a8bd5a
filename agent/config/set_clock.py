"""The clock of this process: the machine's, or for trying things out one that two variables set to another time.

`VAULT_AGENT_CLOCK__START` and `VAULT_AGENT_CLOCK__RATE` are no settings: no file can set the clock, only the one who
starts a command. A clock that was set is shown in `status`, and nothing is pushed with it (`vault.plumbing.network`).
"""

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache

from agent.clock import Clock, SetClock, SystemClock
from agent.errors import ConfigError

START, RATE = "VAULT_AGENT_CLOCK__START", "VAULT_AGENT_CLOCK__RATE"
VARIABLES = frozenset((START, RATE))
_FASTEST, _SLOWEST = 100_000.0, 0.001
_YEARS = range(1971, 2500)
"""The years in which it may start: ids count from 1970, and dates end with the year 9999."""


def is_clock_set(environ: Mapping[str, str] | None = None) -> bool:
    """True if a variable sets the clock of this process."""
    environ = os.environ if environ is None else environ
    return any(environ.get(name) for name in VARIABLES)


def process_clock(environ: Mapping[str, str] | None = None) -> Clock:
    """The clock of this process; raises `ConfigError` for a variable that is no time or no number."""
    environ = os.environ if environ is None else environ
    if not is_clock_set(environ):
        return SystemClock()
    return _set_clock(environ.get(START, ""), environ.get(RATE, ""))


@cache
def _set_clock(start: str, rate: str) -> SetClock:
    """One clock for each pair of values: all parts of a process see the same time."""
    return SetClock.from_now(_start(start) if start else None, _rate(rate))


def _start(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
        if found.year in _YEARS:
            return found.astimezone()
    except (ValueError, OverflowError):
        pass
    raise ConfigError(
        "{variable} is no time: {text!r}",
        hint="write it as 2026-11-23T09:00, or with an offset as 2026-11-23T09:00+01:00",
        variable=START,
        text=text,
    )


def _rate(text: str) -> float:
    try:
        rate = float(text or 1)
        if _SLOWEST <= rate <= _FASTEST:
            return rate
    except ValueError:
        pass
    raise ConfigError(
        "{variable} is no number of times as fast: {text!r}",
        hint="write a number from {least:g} to {most:g}, such as 60",
        variable=RATE,
        text=text,
        least=_SLOWEST,
        most=_FASTEST,
    )
