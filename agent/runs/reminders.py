"""Wishes to be reminded, which need no model: rules understand their time, and a job of that time is made.

The tool with which models make jobs makes this one, too: policy, record and undo are the same.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from agent.dataclass import dataclass
from agent.llm.messages import Json, Message, Request, ToolCall, ToolResult, User
from agent.markdown.title import short_title
from agent.memory.understanding.statements import is_question, sentences_in
from agent.memory.understanding.vocabulary import pattern
from agent.schedule.plain_times import PlainJob, parse_plain
from agent.schedule.shelf import JobShelf
from agent.schedule.trigger_words import job_words
from agent.texts import Language, text
from agent.workspace.daemon_lock import is_watched
from agent.workspace.workspace import Workspace

TOOL = "schedule_create"
_END = " .。!！?？"


@dataclass(frozen=True, slots=True)
class ReminderWish:
    """What a person wants to be reminded of; None: when, is not clear."""

    job: PlainJob | None

    @property
    def call(self) -> ToolCall | None:
        """The call of the tool that makes the job."""
        if self.job is None:
            return None
        on = self.job.header["on"]
        assert isinstance(on, Mapping), "a time in plain words is one kind of trigger"
        times = {key: value.isoformat(" ") if isinstance(value, datetime) else str(value) for key, value in on.items()}
        arguments: dict[str, Json] = {"title": short_title(self.job.task), "text": self.job.task, **times}
        if zone := self.job.header.get("timezone"):
            arguments["timezone"] = str(zone)
        return ToolCall("reminder", TOOL, arguments)


def reminder_wish(message: str, now: datetime) -> ReminderWish | None:
    """The first wish to be reminded in a message, at `now` (aware, local)."""
    return next((ReminderWish(parse_plain(words, now)) for words in _wishes(message)), None)


def _wishes(message: str) -> Iterator[str]:
    for sentence in sentences_in(message):
        words = pattern("reminder_courtesy").sub("", sentence).strip(_END)
        if pattern("reminder").match(words) and not is_question(words):
            yield words


def may_set(request: Request) -> bool:
    """True if jobs may be made in this run."""
    return request.may_call and any(each.name == TOOL for each in request.tools)


def result_of_call(messages: Sequence[Message]) -> ToolResult | None:
    """What the tool said since the person's last message; None if it was not called."""
    last = max((at for at, each in enumerate(messages) if isinstance(each, User)), default=0)
    return next((each for each in messages[last:] if isinstance(each, ToolResult) and each.name == TOOL), None)


def format_reminder(workspace: Workspace, wish: ReminderWish, result: ToolResult | None, language: Language) -> str:
    """What came of a wish: the job and its time, or why there is none; `result` is the tool's, None without a call."""
    if wish.job is None:
        return text("reminder.unclear", language)
    if result is None or result.failed:
        why = result.text if result else text("reminder.not_allowed", language)
        return text("reminder.failed", language, why=why)
    made = [job for job in JobShelf(workspace.vault).load().jobs if job.text == wish.job.task]
    job = max(made, key=lambda each: each.created.timestamp() if each.created else 0.0, default=None)
    if job is None:
        return result.text
    when, link = " ".join(job_words(job, language)), job.path.removesuffix(".md")
    said = text("reminder.set", language, when=when, what=job.text, link=f"[[{link}]]")
    return said if is_watched(workspace) else f"{said}\n\n{text('reminder.no_daemon', language)}"
