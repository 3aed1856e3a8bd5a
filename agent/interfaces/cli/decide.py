"""Asking the person at the terminal what a run waits for: a yes to a call, or the answer to a question.

What they say is recorded as if they had ticked it in the note; then the run goes on. Whoever has nobody at a terminal
leaves it to the note, the commands and the daemon.
"""

import re
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import click

from agent.app.runs import Runs
from agent.app.waiting import Question, answer, read_question
from agent.errors import LockHeld, UserError
from agent.interfaces.cli.output import colour, say, visible
from agent.loop.outcome import Ended, Outcome
from agent.tools.approval_note import change_shown, shows, title, why_asked
from agent.tools.asked import Asked

Read: TypeAlias = Callable[[str], str]
"""Asks the person for a line with this prompt; raises `EOFError` when there is none, `KeyboardInterrupt` on Ctrl-C."""
Begin: TypeAlias = Callable[[str, Callable[[], object]], Ended]
"""Takes up the run of a session (path), having done this first."""

_YES, _NO = {"y", "yes", "是", "是的", "好", "好的", "可以", "同意"}, {"n", "no", "否", "不", "不行", "不要", "不同意"}
_LATER = {"", "l", "later", "稍后"}
_PAUSE = re.compile(r"[\s,.:，。：、]+")
"""What stands between the word and the reason."""
_SHOWN = 200
"""Lines of a change that are shown; the note has all of them."""
_SAID = {
    "en": {
        "decide": "yes, no (and why), or later? ",
        "answer": "your answer (empty: later)? ",
        "asks": "The agent asks",
        "other": "The note was changed and does not show this call any more.",
        "more": "… {} more lines in the note",
        "late": "not recorded: {}",
    },
    "zh": {
        "decide": "是、否（可以写理由），还是稍后（y/n/l）？",
        "answer": "你的回答（留空：稍后）？",
        "asks": "助手想问你",
        "other": "那篇笔记被改过，已经不是这次调用了。",
        "more": "…… 笔记里另有 {} 行",
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
            question = read_question(agent.app.vault, ended.waits_for)
            return _answered(agent, question, read) if question else None
        asked = agent.approvals.find(ended.waits_for)
        return _approved(agent, asked, read) if asked else None
    except (EOFError, KeyboardInterrupt):
        click.echo()
        return None


def _approved(agent: Runs, asked: Asked, read: Read) -> Callable[[], object] | None:
    said = _SAID[agent.app.settings.vault.language]
    click.echo(visible(call_text(agent, asked)), color=colour())
    while True:
        word, _, reason = _PAUSE.sub(" ", read(said["decide"]).strip(), count=1).partition(" ")
        word = word.casefold()
        if word in _YES | _NO:
            return lambda: agent.approvals.decide(asked.id, word in _YES, reason)
        if word in _LATER:
            return None


def _answered(agent: Runs, question: Question, read: Read) -> Callable[[], object] | None:
    click.echo(visible(question_text(question, agent.app.settings.vault.language)), color=colour())
    said = read(_SAID[agent.app.settings.vault.language]["answer"]).strip()
    if not said:
        return None
    chosen = question.options[int(said) - 1] if said.isdecimal() and 0 < int(said) <= len(question.options) else said
    return lambda: answer(agent.app, question, chosen)


def call_text(agent: Runs, asked: Asked) -> str:
    """The call that was asked about, from our own record, and what it would change, from the note."""
    return approval_text(asked, agent.app.vault.read(asked.path) or b"", agent.app.settings.vault.language)


def approval_text(asked: Asked, data: bytes, language: str) -> str:
    """The same, of the note that holds `data`."""
    said = _SAID[language]
    lines = [f"{title(asked, language)}  ({asked.path})", why_asked(data), asked.shown]
    if not shows(data, asked.shown):
        lines.append(said["other"])
    else:
        changed = change_shown(data)
        lines += changed[:_SHOWN]
        lines += [said["more"].format(len(changed) - _SHOWN)] if len(changed) > _SHOWN else []
    return "\n".join(line for line in lines if line)


def question_text(question: Question, language: str) -> str:
    """A question with its options numbered."""
    options = [f"  {number}. {option}" for number, option in enumerate(question.options, 1)]
    return "\n".join([f"{_SAID[language]['asks']}  ({question.path})", question.text, *options])


def keyboard(prompt: str) -> str:
    """A line that the person types after having seen the prompt: what was typed before it is no answer to it."""
    with suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    return input(prompt)
