"""`vault-agent lessons`: what the agent has learned: rules, which are set aside and brought back here, what it believes
the person prefers, and what it thought of its runs.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.growth.lessons.book import LessonBook, lesson_document, load_book
from agent.growth.lessons.by_person import decide_lesson
from agent.growth.lessons.lesson import Lesson
from agent.growth.lessons.lesson_note import load_rows
from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, padded
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.markdown.title import clipped
from agent.memory.profile.owner import format_confidence
from agent.vault.folders import LESSONS_NOTE
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.lessons import lesson_work
    from agent.growth.beliefs.learn import model_document, noted_ids, person_model
    from agent.growth.beliefs.sign import says
    from agent.growth.lessons.reflection import reflection_document
    from agent.growth.lessons.reflection_notes import load_reflections
    from agent.growth.lessons.tend import follow_lessons, tend_lessons
    from agent.growth.patterns.likeness import vectors_of
    from agent.interfaces.cli.profile_texts import format_beliefs
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    vectors_of = later("agent.growth.patterns.likeness", "vectors_of")
    lesson_work = later("agent.app.lessons", "lesson_work")
    follow_lessons = later("agent.growth.lessons.tend", "follow_lessons")
    tend_lessons = later("agent.growth.lessons.tend", "tend_lessons")
    model_document = later("agent.growth.beliefs.learn", "model_document")
    noted_ids = later("agent.growth.beliefs.learn", "noted_ids")
    person_model = later("agent.growth.beliefs.learn", "person_model")
    says = later("agent.growth.beliefs.sign", "says")
    load_reflections = later("agent.growth.lessons.reflection_notes", "load_reflections")
    reflection_document = later("agent.growth.lessons.reflection", "reflection_document")
    format_beliefs = later("agent.interfaces.cli.profile_texts", "format_beliefs")

_SHOWN, _LAST = 100, 5
_ORDER = ("active", "probation", "deprecated")


@group("list")
def command() -> None:
    """What the agent has learned from its work with you: rules, what it believes you prefer, and its reflections.

    Each rule is a line of lessons.md. The agent proposes it, and follows it after your yes: first on probation, then
    active, and set aside when it does not help. A line of your own is a rule, too. NAME is the mark at the end of a
    line, such as 3f2a91c0, or some of its words.
    """


@command.command("list", short_help="List the rules, what I believe you prefer, and the last reflections.")
@in_vault
def list_all(output: Output, workspace: Workspace) -> None:
    """List the rules with their uses, what I believe you prefer with how sure that is, and the last reflections."""
    language, model = workspace.settings.vault.language, person_model(workspace)
    found, reflected = _rules(workspace), load_reflections(workspace.vault)

    def document() -> dict[str, object]:
        beliefs = model_document(workspace.vault, model, language)["beliefs"]
        return {**found.document, "beliefs": beliefs, "reflections": [reflection_document(each) for each in reflected]}

    def text() -> str:
        now = workspace.clock.now()
        lines = [tr("rules:"), *(f"  {line}" for line in found.lines or [found.empty])]
        lines += ["", tr("what I believe you prefer (vault-agent lessons beliefs says why):")]
        believed = [f"  {format_confidence(each.confidence)}  {says(each.dimension, each.value, language)}"
                    for each in model.beliefs]  # fmt: skip
        lines += believed or [f"  {tr('nothing is believed about what you prefer yet')}"]
        lines += ["", tr("what I thought of my runs:")]
        nothing = tr("nothing yet; vault-agent lessons reflect looks back now")
        thought = [
            f"  {format_time(each.at, now)}  {clipped(each.result or each.error, _SHOWN)}  {each.path}"
            for each in reflected[: -_LAST - 1 : -1]
        ]
        return as_lines([*lines, *(thought or [f"  {nothing}"])])

    output.emit(document, text)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules as a document and as lines; `empty` is said where there are none."""

    document: Mapping[str, object]
    lines: list[str]
    empty: str


def _rules(workspace: Workspace) -> _Rules:
    book, waiting = load_book(workspace.vault), pending_proposals(workspace.vault, "rule")
    rules = sorted(book.lessons, key=lambda rule: (_ORDER.index(rule.state), rule.sentence))
    document = {
        "rules": [lesson_document(book, rule) for rule in rules],
        "waiting": [{"path": each.path, "question": each.question} for each in waiting],
    }
    lines = [_line(book, rule) for rule in rules]
    lines += ["", tr("they wait for your yes:")] if waiting else []
    lines += [f"{each.question}  {each.path}" for each in waiting]
    path = workspace.vault.home.at(LESSONS_NOTE)
    empty = "there are no rules yet; write one into {path}, whose header says `type: lessons`"
    if load_rows(workspace.vault).is_damaged:
        damaged = "no lesson is followed until {path} has a header that can be read and says `type: lessons`"
        lines = [tr(damaged, path=path), *lines]
    return _Rules(document, lines, tr(empty, path=path))


@command.command(short_help="Show a rule, what it rests on, and what became of it.")
@click.argument("name", metavar="NAME")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show a rule with its case, its evidence, and all that became of it."""
    book, now = load_book(workspace.vault), workspace.clock.now()
    rule = book.find(name)
    document = lesson_document(book, rule)
    rows = book.log.of(rule.key)
    history = [{"at": row.at.isoformat(), "event": row.event, "by": row.by, "why": row.why} for row in rows]
    lines = [
        f"{rule.key}  {tr(rule.state)}",
        rule.sentence,
        tr("{successes} of {uses} runs with it went well", uses=document["uses"], successes=document["successes"]),
        *(tr("rests on {path}", path=link.strip("[]")) for link in book.log.evidence(rule.key)),
        "" if rows else tr("the log has nothing about it yet"),
        *(f"{format_time(row.at, now)}  {tr(row.event)}  {row.why}" for row in rows),
    ]
    output.emit({"rule": {**document, "log": history}}, as_lines(lines))


@command.command(short_help="Set a rule aside.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@in_vault
def deprecate(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Set a rule aside: no run is given it any more, and it does not come back by itself."""
    work = lesson_work(workspace)
    follow_lessons(work)  # also what was written by hand just now
    rule = decide_lesson(work, load_book(workspace.vault).find(name), "deprecated", reason)
    back = "{rule} is set aside; vault-agent lessons restore {rule} brings it back"
    _decided(output, rule, tr(back, rule=rule.key))


@command.command(short_help="Make a rule active.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@in_vault
def restore(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Make a rule active: one that was set aside, or one on probation. It is then not set aside without asking you."""
    work = lesson_work(workspace)
    follow_lessons(work)
    rule = decide_lesson(work, load_book(workspace.vault).find(name), "active", reason)
    _decided(output, rule, tr("{rule} is active", rule=rule.key))


@command.command(short_help="Look at the reflections and the uses of rules now.")
@in_vault
def learn(output: Output, workspace: Workspace) -> None:
    """Look now at what the reflections say and how the rules have done; a running daemon does so by itself."""
    if not workspace.settings.growth.enabled:
        raise UserError("growth is switched off", hint="vault-agent config set growth.enabled true")
    with closing(open_index(workspace)) as index:
        rows = tend_lessons(lesson_work(workspace, lambda: vectors_of(index.chosen.embedder)))
    waiting = pending_proposals(workspace.vault, "rule")
    lines = [f"{tr(row.event)}  {row.words}  {row.why}" for row in rows]
    lines += [f"{each.question}  {each.path}" for each in waiting]
    document = {
        "changes": [
            {"lesson": row.key if row.target else None, "event": row.event, "rule": row.words, "why": row.why}
            for row in rows
        ],
        "waiting": [{"path": each.path, "question": each.question} for each in waiting],
    }
    output.emit(document, as_lines(lines) or tr("nothing new was learned"))


def _line(book: LessonBook, rule: Lesson) -> str:
    uses = book.counted(rule)
    went_well = sum(use.is_success for use in uses)
    counts = tr("{successes} of {uses}", successes=went_well, uses=len(uses)) if uses else "-"
    state = f"{padded(tr(rule.state), 10)}  {padded(counts, 8)}"
    return f"{rule.key}  {state}  {clipped(rule.sentence, _SHOWN)}"


def _decided(output: Output, rule: Lesson, text: str) -> None:
    output.emit({"rule": {"id": rule.key, "path": rule.path, "status": rule.state}}, text)


@command.command(short_help="Show what I believe you prefer, and by what.")
@in_vault
def beliefs(output: Output, workspace: Workspace) -> None:
    """Show what I believe you prefer, with how sure that is and what it rests on; also what is not sure enough to stand
    in profile/31-preferences.md. Above 0.6 a model is told of it, for texts of its kind; above 0.9 it is confirmed."""
    language, model = workspace.settings.vault.language, person_model(workspace)
    output.emit(
        lambda: model_document(workspace.vault, model, language),
        lambda: as_lines(format_beliefs(model, noted_ids(workspace.vault), language)),
    )
