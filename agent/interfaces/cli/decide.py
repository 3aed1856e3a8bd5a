"""Asking the person at the terminal what a run waits for: a yes to a call, or the answer to a question.

What they say is recorded as if they had ticked it in the note; then the run goes on. Whoever has nobody at a terminal
leaves it to the note, the commands and the daemon. What is asked is read anew from our own record before each prompt,
and shown in a frame that fits the screen; the prompt's last line names the tool and what it would change.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from agent.app.runs import Runs
from agent.app.waiting import Question, answer, read_question
from agent.errors import LockHeld, UserError
from agent.inert import escape_line
from agent.interfaces.cli.named import short
from agent.interfaces.cli.output import say
from agent.interfaces.cli.printing import Styled, patch_line, show, show_framed, size, wrapped
from agent.loop.outcome import Ended, Outcome
from agent.texts import Language
from agent.tools.approval_note import shows, title
from agent.tools.approval_records import ApprovalRecord

Read: TypeAlias = Callable[[str], str]
"""Asks the person for a line with this prompt; raises `EOFError` when there is none, `KeyboardInterrupt` on Ctrl-C."""
Begin: TypeAlias = Callable[[str, Callable[[], object]], Ended]
"""Takes up the run of a session (path), having done this first."""

_YES, _NO = {"y", "yes", "是", "是的", "好", "好的", "可以", "同意"}, {"n", "no", "否", "不", "不行", "不要", "不同意"}
_LATER = {"", "l", "later", "稍后"}
_PAUSE = re.compile(r"[\s,.:，。：、]+")
"""What stands between the word and the reason."""
_AROUND = 10
"""Rows of the screen that are for the question itself and its prompt."""
_FEWEST, _MOST_PER_LINE, _NAMED, _SHORT = 14, 4, 3, 60
_PLAIN = re.compile(r"[\w./-]+")
_SAID: Mapping[str, Mapping[str, str]] = {
    "en": {
        "decide": "Allow {tool}{what}? yes, no (and why), or later? ",
        "changes": " to change {names}",
        "with": " with {names}",
        "comma": ", ",
        "and more": "{names} and {count} more",
        "answer": "Your answer to {path} (empty: later)? ",
        "asks": "The agent asks",
        "other": "The note was changed and does not show this call any more.",
        "note": "The note: {path}",
        "more": "NOT ALL IS SHOWN: {count} more lines, see vault-agent approvals show {id}",
        "rest": "NOT ALL IS SHOWN: {count} more lines in the note.",
        "late": "not recorded: {}",
    },
    "zh": {
        "decide": "允许 {tool}{what}吗？是、否（可以写理由），还是稍后（y/n/l）？",
        "changes": " 改动 {names} ",
        "with": "（{names}）",
        "comma": "、",
        "and more": "{names} 等（另有 {count} 篇）",
        "answer": "你对 {path} 的回答（留空：稍后）？",
        "asks": "助手想问你",
        "other": "那篇笔记被改过，已经不是这次调用了。",
        "note": "笔记：{path}",
        "more": "没有全部显示：另有 {count} 行。要看全部，运行：vault-agent approvals show {id}",
        "rest": "没有全部显示：笔记里另有 {count} 行。",
        "late": "没有记下：{}",
    },
}


def settle(agent: Runs, ended: Ended, read: Read, resume: Begin) -> Ended:
    """While the run waits and the person decides here, record it and go on; how the run ended in the end."""
    while ended.outcome.waits:
        decided = _decided(agent, ended, read)
        if decided is None:
            break
        try:
            ended = resume(ended.session, decided)
        except (LockHeld, UserError) as error:
            said = _SAID[agent.app.settings.vault.language]  # somebody was quicker: in the note, or in another window
            say(said["late"].format(error.message))
            break
    return ended


def _decided(agent: Runs, ended: Ended, read: Read) -> Callable[[], object] | None:
    """What records the person's decision; None for later."""
    try:
        if ended.outcome is Outcome.QUESTION_ASKED:
            return _answered(agent, ended.waits_for, read)
        return _approved(agent, ended.waits_for, read)
    except (EOFError, KeyboardInterrupt):
        show("")
        return None


def _approved(agent: Runs, path: str, read: Read) -> Callable[[], object] | None:
    language = agent.app.settings.vault.language
    while (asked := agent.approvals.find(path)) is not None:
        show_framed(approval_frame(asked, agent.app.vault.read(asked.path) or b"", language, *size()))
        word, _, reason = _PAUSE.sub(" ", read(approval_prompt(asked, language)).strip(), count=1).partition(" ")
        word = word.casefold()
        if word in _YES | _NO:
            return _decision(agent, asked.id, word in _YES, reason)
        if word in _LATER:
            break
    return None


def _decision(agent: Runs, name: str, yes: bool, reason: str) -> Callable[[], object]:
    return lambda: agent.approvals.decide(name, yes, reason)


def _answered(agent: Runs, path: str, read: Read) -> Callable[[], object] | None:
    question = read_question(agent.app.vault, path)
    if question is None:
        return None
    language = agent.app.settings.vault.language
    show_framed(question_frame(question, language, *size()))
    said = read(_SAID[language]["answer"].format(path=_named(question.path))).strip()
    if not said:
        return None
    chosen = question.options[int(said) - 1] if said.isdecimal() and 0 < int(said) <= len(question.options) else said
    return lambda: answer(agent.app, question, chosen)


def approval_text(asked: ApprovalRecord, data: bytes, language: Language) -> str:
    """The call that was asked about and all that it would change, from our own record; `data` is its note's."""
    other = "" if shows(data, asked.shown) else _SAID[language]["other"]
    lines = [f"{title(asked, language)}  ({asked.path})", asked.why, asked.shown, other, asked.change]
    return "\n".join(line for line in lines if line)


def approval_frame(
    asked: ApprovalRecord, data: bytes, language: Language, columns: int, rows: int
) -> list[str | Styled]:
    """The same, cut to a screen of that size; its end says how much is not shown, and where it is."""
    said = _SAID[language]
    room = max(rows - _AROUND, _FEWEST)
    call, change = asked.shown.split("\n"), asked.change.split("\n") if asked.change else []
    head = [asked.why, "" if shows(data, asked.shown) else said["other"]]
    shown_change = _fitting(change, columns, max(room - len(call), room * 2 // 3))
    shown_call = _fitting(call, columns, room - _rows(shown_change, columns))
    left = len(call) - len(shown_call) + len(change) - len(shown_change)
    return [
        Styled(title(asked, language), bold=True),
        *filter(None, head),
        "",
        *(_cut(line, columns) for line in shown_call),
        *(["…"] if len(shown_call) < len(call) else []),
        *([""] if change else []),
        *(patch_line(_cut(line, columns)) for line in shown_change),
        "",
        *([Styled(said["more"].format(count=left, id=short(asked)), bold=True)] if left else []),
        said["note"].format(path=asked.path),
    ]


def approval_prompt(asked: ApprovalRecord, language: str) -> str:
    """The line that asks for the yes: the tool, and what it would change or is given."""
    said = _SAID[language]
    values = asked.paths or tuple(_values(json.loads(asked.shown)["arguments"]))
    names = said["comma"].join(map(_named, values[:_NAMED]))
    if len(values) > _NAMED:
        names = said["and more"].format(names=names, count=len(values) - _NAMED)
    what = said["changes" if asked.paths else "with"].format(names=names) if values else ""
    return said["decide"].format(tool=_named(asked.tool), what=what)


def question_text(question: Question, language: str) -> str:
    """A question with its options numbered."""
    return "\n".join([f"{_SAID[language]['asks']}  ({question.path})", question.text, *_numbered(question)])


def question_frame(question: Question, language: str, columns: int, rows: int) -> list[str | Styled]:
    """The same, cut to a screen of that size."""
    said = _SAID[language]
    text, options = question.text.split("\n"), _numbered(question)
    shown = _fitting(text, columns, max(rows - _AROUND, _FEWEST) - len(options))
    left = len(text) - len(shown)
    return [
        Styled(said["asks"], bold=True),
        *(_cut(line, columns) for line in shown),
        *([Styled(said["rest"].format(count=left), bold=True)] if left else []),
        *(_cut(line, columns) for line in options),
        "",
        said["note"].format(path=question.path),
    ]


def _numbered(question: Question) -> list[str]:
    return [f"  {number}. {option}" for number, option in enumerate(question.options, 1)]


def _fitting(lines: list[str], columns: int, room: int) -> list[str]:
    """The first lines that fit into so many rows; at least one."""
    for count, line in enumerate(lines):
        room -= _rows([line], columns)
        if room < 0:
            return lines[: max(count, 1)]
    return lines


def _rows(lines: list[str], columns: int) -> int:
    return sum(min(len(wrapped(line, columns - 2)), _MOST_PER_LINE) for line in lines)


def _cut(line: str, columns: int) -> str:
    """The line, its middle left out where it would take more than its rows."""
    rows = wrapped(line, columns - 2)
    if len(rows) <= _MOST_PER_LINE:
        return line
    half = (_MOST_PER_LINE * (columns - 2) - 20) // 4
    return f"{escape_line(line)[:half]} …[{len(line) - 2 * half}]… {escape_line(line)[-half:]}"


def _values(given: object) -> list[str]:
    """The texts, numbers and switches among a call's arguments, in their order."""
    if isinstance(given, Mapping):
        return [text for value in given.values() for text in _values(value)]
    if isinstance(given, list):
        return [text for value in given for text in _values(value)]
    return [] if given is None else [str(given)]


def _named(name: str) -> str:
    """A name as one word of a sentence: on one line, in quotes where it is not plain, its middle left out if long."""
    line = escape_line(name)
    line = line if len(line) <= _SHORT else f"{line[: _SHORT // 2]}…{line[-_SHORT // 2 :]}"
    return line if _PLAIN.fullmatch(line) else '"{}"'.format(line.replace('"', '\\"'))
