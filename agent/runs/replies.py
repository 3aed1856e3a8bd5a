"""Decisions by a reply in a messenger: `yes 7K2`, `no 7K2 too long`, `7K2 the second`, `同意 7K2`.

The caller has checked that the words are the owner's. A reply is carried out as if the person had ticked the box or
answered in the note.
"""

import re

from agent.dataclass import dataclass
from agent.errors import AgentError, Retryable
from agent.runs.decision_codes import CODE, CodedNote, find_code, waiting_question
from agent.runs.decisions import Question, answer, approvals
from agent.runs.pending_decisions import PendingDecision, decide_in_note, pending_decisions
from agent.runs.sync_questions import answer_sync_question, asked_by_sync
from agent.texts import in_all_languages, text, translated
from agent.workspace.workspace import Workspace


def _words(key: str) -> tuple[str, ...]:
    """The words of this key in all languages, the longest first."""
    found = {word for sentence in in_all_languages(key) for word in sentence.split()}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


_YES, _NO = _words("decide.yes"), _words("decide.no")
_PAUSE = r"[\s,.:;!，。：；！、]"
_REPLY = re.compile(
    rf"{_PAUSE}*(?:(?P<word>{'|'.join(map(re.escape, (*_YES, *_NO)))})(?:{_PAUSE}+|(?<=[\u4e00-\u9fff])))?"
    rf"(?P<code>{CODE})(?:{_PAUSE}+(?P<rest>.*)|)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DecisionReply:
    """A reply with the code of a note. `yes` is None without a word of consent or refusal; `word` is that word, `rest`
    what follows the code."""

    code: str
    yes: bool | None
    word: str = ""
    rest: str = ""


def parse_decision(words: str) -> DecisionReply | None:
    """The reply in these words; None if they are none.

    A yes or no may stand before the code or after it.
    """
    found = _REPLY.fullmatch(words.strip())
    if found is None:
        return None
    word, rest = found["word"] or "", (found["rest"] or "").strip()
    if not word:
        first, _, after = rest.partition(" ")
        if first.casefold() in (*_YES, *_NO):
            word, rest = first, after.strip()
    yes = None if not word else word.casefold() in _YES
    return DecisionReply(found["code"].upper(), yes, word, rest)


def carry_out(workspace: Workspace, reply: DecisionReply) -> str | None:
    """Decide or answer what the code of a reply names; returns one sentence for the person, in the vault's language.

    None if no note has the code and the reply has no yes or no: then it is an ordinary message. Raises `Retryable` if
    another process writes just now.
    """
    language = workspace.settings.vault.language
    note = find_code(workspace, reply.code)
    if note is None:
        return text("reply.unknown", language, code=reply.code) if reply.yes is not None else None
    try:
        question = waiting_question(workspace, note.path)
        if question is not None:
            return _answer(workspace, note, question, reply)
        asked = next((each for each in pending_decisions(workspace) if each.path == note.path), None)
        if asked is not None:
            return _decide(workspace, note, asked, reply)
    except Retryable:
        raise
    except AgentError as error:
        return text("reply.failed", language, code=note.code, reason=translated(error.message, language))
    if reply.yes is None and reply.rest:
        return None  # words that begin like a code
    return text("reply.over", language, code=note.code, path=note.path)


def _decide(workspace: Workspace, note: CodedNote, asked: PendingDecision, reply: DecisionReply) -> str:
    language = workspace.settings.vault.language
    if reply.yes is None:
        return text("reply.how", language, code=note.code)
    if asked.call is not None:
        approvals(workspace).decide(asked.id, reply.yes, reply.rest)
    else:
        decide_in_note(workspace, asked, reply.yes, reply.rest)
    name = workspace.vault.masked(asked.name)
    return text("reply.allowed" if reply.yes else "reply.refused", language, code=note.code, name=name)


def _answer(workspace: Workspace, note: CodedNote, question: Question, reply: DecisionReply) -> str:
    language = workspace.settings.vault.language
    words = _chosen(question, reply)
    if not words or (not question.run and question.options and words not in question.options):
        options = "\n".join(f"{number}. {each}" for number, each in enumerate(question.options, 1))
        return text("reply.which", language, code=note.code, options=options).strip()
    if question.path in asked_by_sync(workspace):
        answer_sync_question(workspace, question, words)
    else:
        answer(workspace, question, words)
    return text("reply.answered", language, code=note.code, words=workspace.vault.masked(words))


def _chosen(question: Question, reply: DecisionReply) -> str:
    """The option that a reply means, by its number, its words or a yes or no; else the words of the reply."""
    rest = reply.rest
    if rest.isdecimal() and 0 < int(rest[:4]) <= len(question.options):
        return question.options[int(rest[:4]) - 1]
    said = " ".join(filter(None, (reply.word, rest)))
    same = next((each for each in question.options if each.casefold() == said.casefold()), "")
    if same or reply.yes is None or rest:
        return same or said
    meant = _YES if reply.yes else _NO
    fitting = [each for each in question.options if each.casefold().rstrip(".!。！") in meant]
    return fitting[0] if len(fitting) == 1 else ("" if question.options else said)
