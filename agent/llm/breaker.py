"""Stops a run that does the same failing thing over and over: what failed, how often, and whether to try again.

A state and nothing else: the loop tells it what happened, asks before each call, and keeps it with the session.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from agent.errors import LimitReached
from agent.llm.messages import Json, Object

LIMIT = "spend.same_failure"
_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class Breaker:
    """Failures of one run, sub-runs not included. `limit` is how often the same may fail in the same way.

    A failure is the same when the tool, its arguments and the error are; figures in the error do not count.
    """

    limit: int
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """By call, then by error, both as short hashes."""

    def check(self, tool: str, arguments: Object) -> None:
        """Ask before a call is made; raises `LimitReached` where it has failed in the same way too often already."""
        worst = max(self.failures.get(_call(tool, arguments), {}).values(), default=0)
        if worst >= self.limit:
            raise LimitReached(
                f"{tool} failed {worst} times in the same way with the same arguments and was asked for again",
                limit=LIMIT,
                hint="look at the errors in the session's note, then ask again in other words",
            )

    def failed(self, tool: str, arguments: Object, error: str) -> str:
        """Tell of a failed call; returns what the model is to be told beside the error, empty while it may go on."""
        if self._count(_call(tool, arguments), error) < self.limit:
            return ""
        return (
            f"This call has now failed {self.limit} times in the same way. It will not be tried again: "
            "change the arguments, use another tool, or say what is missing. The same call once more ends the run."
        )

    def succeeded(self, tool: str, arguments: Object) -> None:
        """Tell of a call that worked: its failures are forgotten."""
        self.failures.pop(_call(tool, arguments), None)

    def model_failed(self, error: str) -> None:
        """Tell of a failed call of the model; raises `LimitReached` when it was the same error too often."""
        count = self._count(_MODEL, error)
        if count >= self.limit:
            raise LimitReached(
                f"the model failed {count} times in the same way: {error}",
                limit=LIMIT,
                hint="vault-agent doctor checks how the model is reached",
            )

    def model_answered(self) -> None:
        """Tell of a call of the model that worked."""
        self.failures.pop(_MODEL, None)

    def saved(self) -> Object:
        """The state as JSON."""
        return {call: dict(errors) for call, errors in self.failures.items()}

    @classmethod
    def load(cls, limit: int, saved: Json) -> "Breaker":
        """The state that `saved` gave; what is no such state counts as empty."""
        failures: dict[str, dict[str, int]] = {}
        for call, errors in saved.items() if isinstance(saved, Mapping) else ():
            if isinstance(errors, Mapping):
                failures[call] = {error: n for error, n in errors.items() if isinstance(n, int)}
        return cls(limit, failures)

    def _count(self, call: str, error: str) -> int:
        errors = self.failures.setdefault(call, {})
        key = _short(" ".join(_DIGITS.sub("#", error).split()))
        errors[key] = errors.get(key, 0) + 1
        return errors[key]


_MODEL = "model"


def _call(tool: str, arguments: Object) -> str:
    return _short(json.dumps([tool, arguments], sort_keys=True, ensure_ascii=True, default=_plain))


def _plain(value: object) -> object:
    """Mappings and sequences that are not `dict` and `list`."""
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
