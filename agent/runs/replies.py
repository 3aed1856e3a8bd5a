"""Decisions by a reply or a button in a messenger.

The caller has checked that the words are the owner's. A reply is carried out as if the person had ticked the box or
answered in the note.
"""

from agent.asking.codes import CodedNote, codes_by_path, find_code
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question
from agent.asking.replies import NO, YES, DecisionReply
from agent.attention.channels.channel import Choice
from agent.errors import AgentError, Retryable
from agent.markdown.title import clipped
from agent.runs.kinds import decide_proposal, pending_decisions
from agent.runs.named_decisions import answer_question
from agent.runs.waiting_questions import waiting_question
from agent.texts import text, translated
from agent.workspace.workspace import Workspace

_LABEL = 30
"""The most characters on a button."""


def choices_of(workspace: Workspace, path: str) -> tuple[Choice, ...]:
    """The buttons with which the note at `path` can be decided or answered from a messenger: yes and no, or the options
    of a question. Empty if nothing waits there, and for a question without options: its answer is typed (`7K2 …`)."""
    code, language = codes_by_path(workspace.vault).get(path, ""), workspace.settings.vault.language
    question = waiting_question(workspace, path)
    if question is not None:
        labels = (clipped(each, _LABEL) for each in question.options)
        return tuple(Choice(label, f"{code} {number}") for number, label in enumerate(labels, 1))
    if not any(each.path == path for each in pending_decisions(workspace)):
        return ()
    allow = Choice(text("reply.allow", language), text("reply.yes", language, code=code))
    return allow, Choice(text("reply.refuse", language), text("reply.no", language, code=code))


def carry_out(workspace: Workspace, reply: DecisionReply) -> str | None:
    """Decide or answer what the code of a reply names; returns one sentence for the person, in the vault's language.

    None if no note has the code and the reply has no yes or no: then it is an ordinary message. Raises `Retryable` if
    another process writes just now.
    """
    language = workspace.settings.vault.language
    note = find_code(workspace.vault, reply.code)
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


def _decide(workspace: Workspace, note: CodedNote, asked: Proposal, reply: DecisionReply) -> str:
    language = workspace.settings.vault.language
    if reply.yes is None:
        return text("reply.how", language, code=note.code)
    decide_proposal(workspace, asked, reply.yes, reply.rest)
    name = workspace.vault.masked(asked.name)
    return text("reply.allowed" if reply.yes else "reply.refused", language, code=note.code, name=name)


def _answer(workspace: Workspace, note: CodedNote, question: Question, reply: DecisionReply) -> str:
    language = workspace.settings.vault.language
    words = _chosen(question, reply)
    if not words or (not question.run and question.options and words not in question.options):
        return text("reply.which", language, code=note.code, options="\n".join(question.numbered)).strip()
    answer_question(workspace, question, words)
    return text("reply.answered", language, code=note.code, words=workspace.vault.masked(words))


def _chosen(question: Question, reply: DecisionReply) -> str:
    """The option that a reply means, by its number, its words or a yes or no; else the words of the reply."""
    rest = reply.rest
    if rest.isdecimal() and 0 < int(rest[:4]) <= len(question.options):
        return question.options[int(rest[:4]) - 1]
    words = " ".join(filter(None, (reply.word, rest)))
    same = next((each for each in question.options if each.casefold() == words.casefold()), "")
    if same or reply.yes is None or rest:
        return same or words
    meant = YES if reply.yes else NO
    fitting = [each for each in question.options if each.casefold().rstrip(".!。！") in meant]
    return fitting[0] if len(fitting) == 1 else ("" if question.options else words)
