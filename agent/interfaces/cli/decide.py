"""Asks the person at the terminal for the decision that a run waits for: an approval, or the answer to a question.

A decision is recorded as if the person had ticked it in the note; then the run is resumed. Without a terminal, deciding
is left to the note, the commands and the daemon. The call is loaded from the program's own record before each prompt
and shown in a frame that fits the screen; the prompt's last line names the tool and its target.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from agent.asking.note import shows
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question, read_question
from agent.asking.replies import is_later, parse_yes_or_no
from agent.errors import LockHeld, UserError
from agent.escape import escape_line
from agent.interfaces.cli.foreground import foreground
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import CommandFailed, Output, RelayedError, say
from agent.interfaces.cli.printing import Styled, patch_line, show, show_framed, size, wrapped
from agent.interfaces.cli.prompt import confirm
from agent.interfaces.cli.run_messages import AnsweredRun, check_whole
from agent.interfaces.cli.run_report import failure, remarks, run_document
from agent.interfaces.cli.screen import is_terminal
from agent.json_value import parse_json
from agent.lazy import later
from agent.loop.outcome import Ended, RunOutcome
from agent.runs.decisions import PersonDecision, Resumer, also_asked, approvals, record_decision, resumer_of
from agent.runs.registry import RunMark
from agent.runs.run_io import RunIO
from agent.runs.short_ids import short_id
from agent.texts import Language, text, translated
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.agent import build_runs
    from agent.runs.service import RunService
    from agent.workspace.search_index import open_index
else:
    build_runs = later("agent.app.agent", "build_runs")
    open_index = later("agent.workspace.search_index", "open_index")

AskLine: TypeAlias = Callable[[str], str]
"""Asks the person for a line with this prompt; raises `EOFError` at the end of input, `KeyboardInterrupt` on Ctrl-C."""

_AROUND = 10
"""Screen rows that are kept free for the rest of the question and its prompt."""
_FEWEST, _MOST_PER_LINE, _NAMED, _SHORT = 14, 4, 3, 60
_PLAIN = re.compile(r"[\w./-]+")


A = TypeVar("A", bound=AnsweredRun)


def settle(workspace: Workspace, ended: A, ask: AskLine, resume: Callable[[str, PersonDecision], A]) -> A:
    """Ask, record and resume while the run waits and the person decides; returns the result of the last run.

    `resume` goes on with the run of the session at a path once it has recorded the decision.
    """
    while ended.outcome.waits:
        decision = _ask_decision(workspace, ended, ask)
        if decision is None:
            break
        try:
            for other in () if decision.yes is None else also_asked(workspace, ended.waits_for):
                if (more := _asked_about(workspace, other.path, ask)) is not None:
                    record_decision(workspace, more)
            ended = resume(ended.session, decision)
        except (LockHeld, UserError, RelayedError) as error:  # decided meanwhile, in the note or in another window
            if isinstance(error, RelayedError) and not error.can_be_tried_again:
                raise
            language = workspace.settings.vault.language
            say(text("decide.not_recorded", language, reason=translated(error.message, language)))
            break
    return ended


def resume_after(agent: "RunService", session: str, decision: PersonDecision, line: RunIO) -> Ended:
    """Go on with the run of a session once the decision that it waits for is recorded; raises as `RunService.resume`
    and `record_decision` do."""
    return agent.resume(session, line, partial(record_decision, agent.workspace, decision))


def _ask_decision(workspace: Workspace, ended: AnsweredRun, ask: AskLine) -> PersonDecision | None:
    """Ask for the decision; None for "later"."""
    is_question = ended.outcome is RunOutcome.QUESTION_ASKED
    return _asked_about(workspace, ended.waits_for, ask, is_question=is_question)


def _asked_about(workspace: Workspace, path: str, ask: AskLine, *, is_question: bool = False) -> PersonDecision | None:
    """Ask for the decision in the note at `path`; None for "later"."""
    try:
        return _ask_answer(workspace, path, ask) if is_question else _ask_approval(workspace, path, ask)
    except (EOFError, KeyboardInterrupt):
        show("")
        return None


def _ask_approval(workspace: Workspace, path: str, ask: AskLine) -> PersonDecision | None:
    language, known = workspace.settings.vault.language, approvals(workspace)
    while (asked := known.find(path)) is not None:
        show("")
        show_framed(approval_frame(asked, workspace.vault.read(asked.path) or b"", language, *size()))
        words = ask(approval_prompt(asked, language))
        if (answer := parse_yes_or_no(words)) is not None:
            return PersonDecision(asked.id, answer.yes, answer.rest)
        if is_later(words):
            break
    return None


def _ask_answer(workspace: Workspace, path: str, ask: AskLine) -> PersonDecision | None:
    question = read_question(workspace.vault, path)
    if question is None:
        return None
    language = workspace.settings.vault.language
    show("")
    show_framed(question_frame(question, language, *size()))
    words = ask(text("decide.answer", language, path=_quoted(question.path))).strip()
    if not words:
        return None
    return PersonDecision(question.path, words=question.chosen(words))


def approval_frame(asked: Proposal, data: bytes, language: Language, columns: int, rows: int) -> list[str | Styled]:
    """The approval, cut to a screen of this size: the change that a yes makes, or the call if there is none or its
    change is too long to be shown whole. The end has the number of missing lines and the command to see them."""
    room = max(rows - _AROUND, _FEWEST)
    change = asked.change.split("\n") if asked.change else []
    call = asked.shown.split("\n") if not change or change[-1].startswith("…") else []
    head = [asked.why, "" if shows(data, asked) else text("decide.changed_note", language)]
    change_lines = _fitting(change, columns, max(room - len(call), room * 2 // 3))
    call_lines = _fitting(call, columns, room - _rows(change_lines, columns))
    left = len(call) - len(call_lines) + len(change) - len(change_lines)
    return [
        Styled(asked.question, bold=True),
        *filter(None, head),
        "",
        *(_cut(line, columns) for line in call_lines),
        *(["…"] if len(call_lines) < len(call) else []),
        *([""] if change and call else []),
        *(patch_line(_cut(line, columns)) for line in change_lines),
        "",
        *([Styled(text("decide.hidden_call", language, count=left, id=short_id(asked)), bold=True)] if left else []),
        text("decide.note", language, path=asked.path),
    ]


def approval_prompt(asked: Proposal, language: Language) -> str:
    """The prompt for an approval: the notes that it changes, else the tool and its arguments."""
    values = asked.paths or tuple(_values(parse_json(asked.shown)["arguments"]))
    names = text("decide.comma", language).join(map(_quoted, values[:_NAMED]))
    if len(values) > _NAMED:
        names = text("decide.and_more", language, names=names, count=len(values) - _NAMED)
    if asked.paths:
        return text("decide.change", language, question=text("approval.of_change", language, names=names))
    what = text("decide.with_values", language, names=names) if values else ""
    return text("decide.approve", language, tool=_quoted(asked.name), what=what)


def question_text(question: Question, language: Language) -> str:
    """A question with its options numbered."""
    return "\n".join([f"{text('decide.question', language)}  ({question.path})", question.text, *_numbered(question)])


def question_frame(question: Question, language: Language, columns: int, rows: int) -> list[str | Styled]:
    """The question, cut to a screen of this size."""
    lines, options = question.text.split("\n"), _numbered(question)
    visible = _fitting(lines, columns, max(rows - _AROUND, _FEWEST) - len(options))
    left = len(lines) - len(visible)
    return [
        Styled(text("decide.question", language), bold=True),
        *(_cut(line, columns) for line in visible),
        *([Styled(text("decide.hidden_question", language, count=left), bold=True)] if left else []),
        *(_cut(line, columns) for line in options),
        "",
        text("decide.note", language, path=question.path),
    ]


def _numbered(question: Question) -> list[str]:
    return [f"  {option}" for option in question.numbered]


def _fitting(lines: list[str], columns: int, room: int) -> list[str]:
    """The first lines that fit into this many rows; at least one."""
    for count, line in enumerate(lines):
        room -= _rows([line], columns)
        if room < 0:
            return lines[: max(count, 1)]
    return lines


def _rows(lines: list[str], columns: int) -> int:
    return sum(min(len(wrapped(line, columns - 2)), _MOST_PER_LINE) for line in lines)


def _cut(line: str, columns: int) -> str:
    """The line, without its middle if it would take more than its rows; it ends and goes on between words."""
    rows = wrapped(line, columns - 2)
    if len(rows) <= _MOST_PER_LINE:
        return line
    visible, half = escape_line(line), (_MOST_PER_LINE * (columns - 2) - 20) // 4
    begin, end = visible[:half], visible[-half:]
    begin = begin[: begin.rfind(" ", half // 2) + 1 or half].rstrip()
    end = end[end.find(" ", 0, half // 2) + 1 :]
    return f"{begin} …[{len(visible) - len(begin) - len(end)}]… {end}"


def _values(arguments: object) -> list[str]:
    """All single values in a call's arguments, as text, in order."""
    if isinstance(arguments, Mapping):
        return [each for value in arguments.values() for each in _values(value)]
    if isinstance(arguments, list):
        return [each for value in arguments for each in _values(value)]
    return [] if arguments is None else [str(arguments)]


def _quoted(name: str) -> str:
    """A name for use in a sentence: on one line, in quotes if it has special characters, shortened if long."""
    line = escape_line(name)
    line = line if len(line) <= _SHORT else f"{line[: _SHORT // 2]}…{line[-_SHORT // 2 :]}"
    return line if _PLAIN.fullmatch(line) else '"{}"'.format(line.replace('"', '\\"'))


def emit_decision(
    workspace: Workspace, output: Output, path: str, decision: dict[str, object], note: str, *, resume_here: bool
) -> None:
    """Print a decision about the note at `path`, and resume the run that waited for it.

    Without a daemon the run is resumed in this process: with `resume_here`, or after the person's yes at the terminal.
    """

    def here() -> bool:
        ask = not resume_here and is_terminal() and not output.json
        return confirm(tr("go on with the run now?"), default=True) if ask else resume_here

    who, mark = resumer_of(workspace, path, here)
    output.note(note)
    ended, report = (
        _resume(workspace, output, mark.session) if who is Resumer.HERE and mark is not None else (None, None)
    )
    output.emit({**decision, "goes_on": who.value, "run_ended": report}, _what_follows(who, mark))
    if ended is not None:
        check_whole(ended)


def _resume(workspace: Workspace, output: Output, session: str) -> tuple[Ended, dict[str, object]]:
    """Resume a session's run here and show its answer; returns its result, also as a document."""
    with closing(open_index(workspace)) as index:
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        with here.closing():
            ended = here.run_and_decide(lambda line: agent.resume(session, line), partial(resume_after, agent))
            if not here.screen.live and not output.json:
                show(ended.answer)
            output.note("\n".join(remarks(ended, workspace)))
            report = run_document(agent, ended, resumed=True)
    if ended.outcome is RunOutcome.FAILED:
        raise CommandFailed(failure(ended), report)
    return ended, report


def _what_follows(who: Resumer, mark: RunMark | None) -> str:
    match who:
        case Resumer.DAEMON:
            return tr("the daemon goes on with the run")
        case Resumer.LATER if mark is not None:
            return tr("go on with: vault-agent ask --resume {session}", session=quote(mark.session))
        case Resumer.NOBODY:
            return tr("no run waits for it here any more")
        case _:
            return ""
