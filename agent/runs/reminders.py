"""Wishes to be reminded, which need no model: rules understand their time, and a job of that time is made.

The tool with which models make jobs makes this one, too: policy, record and undo are the same.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.lazy import later
from agent.llm.messages import Json, Message, Request, ToolCall, ToolResult, User
from agent.markdown.title import short_title
from agent.memory.understanding.statements import COMMA, is_question, sentences_in
from agent.schedule.job import Job
from agent.schedule.job_header import begins_as_wish, plain_wish
from agent.schedule.shelf import JobShelf
from agent.schedule.trigger_lines import format_lines
from agent.schedule.trigger_words import job_words
from agent.schedule.triggers import parse_triggers
from agent.texts import Language, text
from agent.times.reading import Reading, Understood, remarks
from agent.tools.tool_names import ACTION
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:
    from agent.times.when import parse_when
else:  # few messages wish for a reminder
    parse_when = later("agent.times.when", "parse_when")


TOOL, _ADD = "jobs", "add"
_GAP = " ,，;"


@dataclass(frozen=True, slots=True)
class ReminderWish:
    """A wish of a person to be reminded, and when. `id` names the call that makes its job."""

    id: str
    time: Reading

    @property
    def call(self) -> ToolCall | None:
        """The call of the tool that makes the job; None if the time is not clear."""
        time = self.time
        if not isinstance(time, Understood):
            return None
        when, title = format_lines(parse_triggers(time.on)), short_title(time.rest)
        arguments: dict[str, Json] = {ACTION: _ADD, "title": title, "text": time.rest, "when": when, "remind": True}
        if time.zone:
            arguments["timezone"] = time.zone
        return ToolCall(self.id, TOOL, arguments)


def reminder_wishes(message: str, now: datetime) -> tuple[ReminderWish, ...]:
    """The wishes to be reminded in a message, at `now` (aware, local)."""
    words = (wish for each in sentences_in(message) if (wish := split_wish(each)[0]))
    return tuple(ReminderWish(f"reminder-{at}", parse_when(each, now)) for at, each in enumerate(words, 1))


def split_wish(sentence: str) -> tuple[str, str]:
    """The wish to be reminded in a sentence, without courtesies, and what is asked behind it; all of the sentence is
    the second if there is no wish."""
    if not begins_as_wish(sentence):
        return "", sentence
    words = plain_wish(sentence)
    ends = (0, *(found.end() for found in COMMA.finditer(words)))
    asks = (at for at in ends if any(map(is_question, sentences_in(COMMA.split(words[at:])[0]))))
    at = next(asks, len(words))
    return (words[:at].rstrip(_GAP), words[at:]) if at else ("", sentence)


def may_set(request: Request) -> bool:
    """True if jobs may be made in this run."""
    return request.may_call and any(each.name == TOOL for each in request.tools)


def results_of_calls(messages: Sequence[Message]) -> Mapping[str, ToolResult]:
    """The tool's results since the person's last message, by the ids of its calls; empty if it was not called."""
    last = max((at for at, each in enumerate(messages) if isinstance(each, User)), default=0)
    return {each.call: each for each in messages[last:] if isinstance(each, ToolResult) and each.name == TOOL}


def format_reminders(
    workspace: Workspace, wishes: Sequence[ReminderWish], results: Mapping[str, ToolResult], language: Language
) -> str:
    """The answer to each wish: the job and its time, or why there is none."""
    jobs = JobShelf(workspace.vault).load().jobs
    parts = [_format_one(each, results.get(each.id), jobs, language) for each in wishes]
    is_any_set = any(not each.failed for each in results.values())
    parts += [text("reminder.no_daemon", language)] if is_any_set and not is_watched(workspace) else []
    return "\n\n".join(parts)


def _format_one(wish: ReminderWish, result: ToolResult | None, jobs: Sequence[Job], language: Language) -> str:
    time = wish.time
    if not isinstance(time, Understood):
        return text("reminder.unclear", language, one=time.guesses[0], other=time.guesses[1])
    if result is None or result.failed:
        why = result.text if result else text("reminder.not_allowed", language)
        return text("reminder.failed", language, why=why)
    made = [job for job in jobs if job.text == time.rest]
    job = max(made, key=lambda each: each.created.timestamp() if each.created else 0.0, default=None)
    if job is None:
        return result.text
    when, link = " ".join(job_words(job, language)), job.path.removesuffix(".md")
    answer = text("reminder.set", language, when=when, what=job.text, link=f"[[{link}]]")
    return "\n\n".join((answer, *remarks(time, language)))
