"""Stops a run that repeats itself: calls that fail in the same way, and calls with the same result.

The loop reports each result and checks before each call.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from hashlib import sha256

from agent.dataclass import dataclass
from agent.errors import LimitReached
from agent.llm.messages import JsonObject, ToolCall, ToolResult
from agent.loop.tool_line import call_line

WARNED, MOST = 3, 8
"""The number of equal results of one call after which the model is warned, and after which the call is refused: a model
that ignores six warnings will ignore the seventh. No setting: while a run waits for something, the result changes."""
_DIGITS = re.compile(r"\d+")


class Repeated(LimitReached):
    """A run makes the same call again and again: `times` times, each with the same failure (`failed`) or result."""

    def __init__(self, tool: str, arguments: JsonObject, times: int, *, failed: bool) -> None:
        self.call, self.times, self.failed = call_line(ToolCall("", tool, arguments)), times, failed
        what = "failed {} times in the same way" if failed else "gave the same result {} times"
        super().__init__(
            f"{self.call} {what.format(times)} and was asked for again",
            limit="spend.same_failure" if failed else "",
            hint="look at the errors in the session's note, then ask again in other words"
            if failed
            else "what it found is in the session's note; ask again in other words, or choose another llm.model",
            concludes=True,
        )


@dataclass(slots=True)
class Breaker:
    """The repetitions of one run, without sub-runs. `limit` is the most equal failures of the same call.

    Failures are equal if the tool, its arguments and the error are; numbers in the error do not count. Results are
    equal if every character is; a different result restarts the count.
    """

    limit: int
    failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """By call (its tool and a short hash), then by error (a short hash)."""
    repeats: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By call: its last result (a short hash), and how many times in a row it gave this one."""

    def check(self, tool: str, arguments: JsonObject) -> None:
        """Raise `Repeated` if the call has failed in the same way, or given the same result, too often."""
        call = _call(tool, arguments)
        worst = max(self.failures.get(call, {}).values(), default=0)
        if worst >= self.limit:
            raise Repeated(tool, arguments, worst, failed=True)
        _, same = self.repeats.get(call, ("", 0))
        if same >= MOST:
            raise Repeated(tool, arguments, same, failed=False)

    def failed(self, tool: str, arguments: JsonObject, error: str) -> str:
        """Count a failed call; returns a warning for the model, empty while the call may be repeated."""
        call = _call(tool, arguments)
        self.repeats.pop(call, None)
        if self._count(call, error) < self.limit:
            return ""
        return (
            f"This call has now failed {self.limit} times in the same way. It will not be tried again: "
            "change the arguments, use another tool, or say what is missing. The same call once more ends the run."
        )

    def succeeded(self, tool: str, arguments: JsonObject, result: str) -> None:
        """Count a successful call, and reset its failures."""
        call, new = _call(tool, arguments), _short(result)
        self.failures.pop(call, None)
        last, times = self.repeats.get(call, ("", 0))
        self.repeats[call] = new, times + 1 if new == last else 1

    @property
    def repeated(self) -> tuple[tuple[str, int], ...]:
        """The tools of which a call has given the same result too often to be of use, each with the number."""
        counts = ((call.partition(" ")[0], times) for call, (_, times) in self.repeats.items())
        return tuple((tool, times) for tool, times in counts if times >= WARNED)

    def replay(self, results: Iterable[tuple[ToolCall, ToolResult]]) -> None:
        """Count the results in the note of a resumed run. The failures of a call start at zero: a person may have
        removed their cause."""
        for call, result in results:
            if result.failed:
                self.repeats.pop(_call(call.name, call.arguments), None)
            else:
                self.succeeded(call.name, call.arguments, result.text)

    def _count(self, call: str, error: str) -> int:
        errors = self.failures.setdefault(call, {})
        key = _short(" ".join(_DIGITS.sub("#", error).split()))
        errors[key] = errors.get(key, 0) + 1
        return errors[key]


def _call(tool: str, arguments: JsonObject) -> str:
    return f"{tool} {_short(json.dumps(arguments, sort_keys=True, ensure_ascii=True, default=_plain))}"


def _plain(value: object) -> object:
    """The value with mappings as `dict` and sequences as `list`."""
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
