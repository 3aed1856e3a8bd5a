"""Whether the case of a rule came up in a run: only then does the run say something about the rule.

The fast model is asked once after a run, about the cases of all its rules together: it knows that "a summary is asked
for" when the person wants "the gist". Without it (none there, none allowed, no money left, no answer of the right form)
a case came up if its words and those of the task mean nearly the same: by the search index's embedder, else by common
words. That misses some uses; it counts few wrong ones.
"""

import logging
import re
from collections.abc import Callable, Iterable, Sequence

from agent.context.prompt import fill
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.runs import TaskCompleted
from agent.growth.patterns.likeness import Vectors, words_in
from agent.growth.rules.uses import ENDED
from agent.json_value import parse_json
from agent.llm.messages import Request, User, ignore
from agent.markdown.title import clipped
from agent.memory.capture.run_trace import ToolUse
from agent.runs.accounts import Accounts
from agent.runs.run_trace import run_trace
from agent.runs.status import growth_account
from agent.workspace.workspace import Workspace

FITS = 0.57
"""The cosine of a case and a task from which the case came up. Fitted to pairs in both languages: "meeting notes are
filed" and "File the meeting notes of the budget" have .73, the same case and "When is the weekly meeting?" .48;
修改笔记时 and 把这篇笔记里的日期改一下 .68, and with 概括一下上周的三篇笔记 .52."""
FITS_BY_WORDS = 0.6
"""Without vectors: the share of the case's words that the task has."""
_SECONDS = 20.0
"""The longest time to wait for the model."""
_ANSWER_TOKENS, _LONGEST = 200, 400
_MOST_STEPS, _TASK, _ABOUT = 30, 1_500, 120
_LIST = re.compile(r"\[[\s\d,]*\]")
_LINK = re.compile(r"\[\[(?:[^\]|\n]*[/|])?([^\]|\n]+)\]\]")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CaseJudge:
    """Judges the cases of rules in the runs of one vault. `vectors` loads the embedder when needed; without `accounts`
    no model is asked."""

    workspace: Workspace
    vectors: Callable[[], Vectors | None]
    accounts: Accounts | None

    def came_up(self, cases: Sequence[str], event: TaskCompleted) -> frozenset[str]:
        """Those of these cases (none of them empty) that came up in a run that has ended."""
        cases = tuple(dict.fromkeys(cases))
        if not cases:
            return frozenset()
        numbers = self._by_model(cases, event) if event.outcome in ENDED else None
        if numbers is None:
            return frozenset(each for each in cases if case_fits(each, event.task, self.vectors()))
        return frozenset(each for number, each in enumerate(cases, 1) if number in numbers)

    def _by_model(self, cases: Sequence[str], event: TaskCompleted) -> frozenset[int] | None:
        """The numbers of the cases that came up; None if no model says so."""
        if self.accounts is None or not self.accounts.models.fast.model.present:
            return None
        vault, clock = self.workspace.vault, self.workspace.clock
        until = clock.monotonic() + _SECONDS
        try:
            trace = run_trace(vault, event.session, event.run)
            prompt = fill(
                "cases",
                vault.own_version_of,
                task=clipped(vault.masked(event.task), _TASK),
                steps=vault.masked(_steps(trace.steps, bare=bool(trace.untrusted))),
                cases="\n".join(f"{number}. {each}" for number, each in enumerate(cases, 1)),
            )
            model = self.accounts.of_run(f"cases-{clock.new_id()}", growth_account("rules")).fast
            asked = Request((User(prompt),), max_output=_ANSWER_TOKENS)
            return parse_numbers(model.chat(asked, ignore, lambda: clock.monotonic() >= until).message.text)
        except (AgentError, OSError) as error:
            logger.info("whether the cases of rules came up in %s is told without a model: %s", event.run, error)
            return None


def parse_numbers(reply: str) -> frozenset[int] | None:
    """The numbers in the last JSON list of a short reply; None without one."""
    found = _LIST.findall(reply) if len(reply) <= _LONGEST else []
    try:
        return frozenset(parse_json(found[-1])) if found else None
    except ValueError:
        return None


def case_fits(case: str, task: str, vectors: Vectors | None) -> bool:
    """True if a case and a task mean nearly the same; links in the task count by the names of their notes."""
    said = _LINK.sub(r"\1", task)
    if vectors is not None:
        rows = vectors([case, said])
        return float(rows[0] @ rows[1]) >= FITS
    words = words_in(case)
    return bool(words) and len(words & words_in(said)) / len(words) >= FITS_BY_WORDS


def _steps(steps: Iterable[ToolUse], *, bare: bool) -> str:
    """The steps as lines; `bare`: without what they were about, which a stranger's text may have steered."""
    lines = list[str]()
    for step in steps:
        about = "" if bare or not step.about else f": {' '.join(step.about.split())[:_ABOUT]}"
        lines.append(f"- {step.tool}{about}{' (failed)' if step.failed else ''}")
    return "\n".join(lines[:_MOST_STEPS]) or "(none)"
