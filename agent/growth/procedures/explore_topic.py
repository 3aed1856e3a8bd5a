"""`explore_topic`: a report on a topic in `research/`, each statement with the note that it comes from."""

import re
from collections.abc import Iterator
from dataclasses import replace

from agent.growth.procedures.material import bullets, quote, title_of, words_of
from agent.growth.procedures.procedure import ModelPart, ProcedureContext, Work
from agent.index.hit import Hit
from agent.markdown.note import Note
from agent.markdown.title import short_title
from agent.memory.blame import person_lines
from agent.vault.change import Append
from agent.vault.folders import (
    APPROVALS,
    INBOX,
    JOB_HISTORY,
    JOBS,
    PROMPTS,
    QUESTIONS,
    REFLECTIONS,
    RESEARCH,
    SESSIONS,
    TASKS,
    TASKS_DONE,
    instructs,
)

MODEL: ModelPart = "instead"
WRITES: tuple[str, ...] = ()
_PASSAGES = 12
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_LEFT_OUT = frozenset(
    (APPROVALS, INBOX, JOB_HISTORY, JOBS, PROMPTS, QUESTIONS, REFLECTIONS, RESEARCH, SESSIONS, TASKS, TASKS_DONE)
)
"""Folders whose notes say what is to be done, or what the agent said, not what is known."""


def plain(context: ProcedureContext) -> Work:
    """Quote what the vault says on the topic, by note."""
    name = _name(context)
    found = list(_passages(context))
    if not found:
        return Work(context.text("nothing_about", topic=_topic(context)), is_quiet=True)
    notes = dict.fromkeys(hit.path for hit in found)
    said = [(hit.path, quote(_HEADING.sub("", hit.passage))) for hit in found]
    rows = [
        f"### [[{path.removesuffix('.md')}]]\n\n" + bullets(words for each, words in said if each == path)
        for path in notes
    ]
    says = context.text("explored", count=len(notes), link=_link(context, name))
    if context.runs.present:
        return Work("\n\n".join(rows))
    return Work(says, (_report(context, name, "\n\n".join(rows)),))


def from_answer(context: ProcedureContext, answer: str) -> Work:
    """The answer is the report."""
    name = _name(context)
    return Work(context.text("reported", link=_link(context, name)), (_report(context, name, answer),))


def _topic(context: ProcedureContext) -> str:
    call = context.call
    return call.title or (title_of(call.target_file) if call.target_file else call.description)


def _name(context: ProcedureContext) -> str:
    return context.call.target_file or f"{RESEARCH}{short_title(_topic(context)) or 'topic'}.md"


def _link(context: ProcedureContext, name: str) -> str:
    return f"[[{context.path(name).removesuffix('.md')}]]"


def _passages(context: ProcedureContext) -> Iterator[Hit]:
    query = f"{_topic(context)} {context.call.description}".strip()
    plain = query.replace(":", " ").replace("-", " ")  # words, not filters
    words = words_of(_topic(context)) or words_of(query)
    for hit in context.runs.recall.search(plain, _PASSAGES).hits:
        data = context.vault.read(hit.path)
        is_known = context.vault.home.row(hit.path).path not in _LEFT_OUT and not instructs(hit.path)
        is_known = is_known and Note.parse(data or b"").type != "about"
        if data is None or not is_known or context.runs.recall.foreign.source(hit.path, data):
            continue
        passage = _persons_lines(context, hit, data) if context.vault.home.row(hit.path).logs else hit.passage
        if words & words_of(" ".join((hit.title, *hit.headings, passage))) and passage.strip():
            yield replace(hit, passage=passage)


def _persons_lines(context: ProcedureContext, hit: Hit, data: bytes) -> str:
    """The lines of a passage that the agent did not log there: what it did itself is nothing known of a topic."""
    first, last = hit.lines
    rows = data.decode("utf-8", "replace").split("\n")
    theirs = person_lines(context.vault, hit.path, data)
    return "\n".join(row for row, is_theirs in [*zip(rows, theirs, strict=True)][first - 1 : last] if is_theirs)


def _report(context: ProcedureContext, name: str, body: str) -> Append:
    """The request that adds a report of today to the note of the topic."""
    topic = _topic(context)
    created = context.now.replace(microsecond=0)
    head = Note.compose({"title": topic, "type": "research", "created": created}, f"# {topic}\n")
    return Append(context.path(name), body.encode("utf-8", "replace"), head.data, f"## {context.today}".encode())
