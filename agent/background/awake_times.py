"""The times awake of the present day in which something was done, on this machine: a small file outside the vault.

They go into the day's log together, in one commit once the day is over. What was done has its own place there at once.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from agent.config.private import make_folder, replace
from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.memory import daily
from agent.texts import Language, text

TIMES = "schedule/awake.json"
_NAMED = 5
"""The most pieces of work that a line names."""


@dataclass(frozen=True, slots=True)
class AwakeTime:
    """A time awake, and what was done in it, each in a few words."""

    begun: datetime
    ended: datetime
    done: tuple[str, ...]

    def line(self, language: Language) -> str:
        """It as a list item, with a line end."""
        done = list(dict.fromkeys(self.done))
        named = text("answers.comma", language).join(daily.inert(each) for each in done[:_NAMED])
        more = f" … ({len(done)})" if len(done) > _NAMED else ""
        begun, ended = f"{self.begun:%H:%M}", f"{self.ended:%H:%M}"
        return f"- {text('jobs.awake', language, begun=begun, ended=ended, done=named + more)}\n"


def load_times(private_folder: Path) -> tuple[AwakeTime, ...]:
    """The times that are not in the vault yet, in their order; none where the file is missing or damaged."""
    try:
        rows = parse_json((private_folder / TIMES).read_bytes())
        return tuple(_parsed(row["begun"], row["ended"], row["done"]) for row in rows)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()


def save_times(private_folder: Path, times: Sequence[AwakeTime]) -> None:
    """Write the times that are not in the vault yet."""
    rows = [{"begun": each.begun.isoformat(), "ended": each.ended.isoformat(), "done": each.done} for each in times]
    path = private_folder / TIMES
    make_folder(path.parent)
    replace(path, json.dumps(rows))


def _parsed(begun: str, ended: str, done: Sequence[object]) -> AwakeTime:
    return AwakeTime(datetime.fromisoformat(begun), datetime.fromisoformat(ended), tuple(map(str, done)))
