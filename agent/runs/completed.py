"""Events of ended or paused runs, rebuilt from the session's note: the same that the run's own process published."""

from collections.abc import Iterator

from agent.events.runs import Speaker, TaskCompleted
from agent.llm.messages import Assistant, ToolResult, Usage
from agent.loop.records import Began, Closed, SessionRecord, Spoken
from agent.loop.session import Session


def completed_runs(session: Session) -> Iterator[TaskCompleted]:
    """One event for each time that a run in the session has ended or paused, oldest first; `at` is set in each.

    Seconds are counted from the start of the run and include the time in which it waited for its person.
    """
    began: tuple[SessionRecord, Began] | None = None
    since: list[SessionRecord] = []
    for record in session.records:
        match record.event:
            case Began() as event:
                began, since = (record, event), []
            case Closed() as closed if began is not None and began[1].run == closed.run:
                yield _completed(session.path, *began, since, record, closed)
            case _:
                since.append(record)


def _completed(
    path: str, start: SessionRecord, began: Began, since: list[SessionRecord], end: SessionRecord, closed: Closed
) -> TaskCompleted:
    spoken = [each.event for each in since if isinstance(each.event, Spoken)]
    answers = [each.message for each in spoken if isinstance(each.message, Assistant)]
    used = sum((each.usage for each in spoken if each.usage), Usage())
    return TaskCompleted(
        closed.run,
        path,
        began.task,
        Speaker(began.channel, began.sender, began.group),
        closed.outcome,
        answers[-1].text if answers else "",
        tuple(each.message.name for each in spoken if isinstance(each.message, ToolResult)),
        (end.at - start.at).total_seconds(),
        len(answers),
        used.input,
        used.output,
        end.at,
    )
