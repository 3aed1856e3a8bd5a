"""`vault-agent lessons`: what the agent has learned: rules, which are set aside and brought back here, what it believes
the person prefers, and what it thought of its runs. `rules` is a part of it, by its old name.
"""

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.growth.rules.book import RuleBook, load_book, rule_document, rule_history
from agent.growth.rules.deciding import deprecate_rule, restore_rule
from agent.growth.rules.rule import LearnedRule
from agent.interfaces.cli.declare import group, in_vault
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, columns, padded
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.markdown.title import clipped
from agent.memory.profile.owner import shown_confidence
from agent.vault.folders import RULES
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.rules import rule_work
    from agent.growth.beliefs.documents import last_changed, model_document
    from agent.growth.beliefs.learn import person_model
    from agent.growth.beliefs.sign import says
    from agent.growth.patterns.likeness import vectors_of
    from agent.growth.reflections.documents import reflection_document
    from agent.growth.reflections.store import load_reflections
    from agent.growth.rules.tend import tend_rules
    from agent.interfaces.cli.profile_texts import format_beliefs
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    vectors_of = later("agent.growth.patterns.likeness", "vectors_of")
    rule_work = later("agent.app.rules", "rule_work")
    tend_rules = later("agent.growth.rules.tend", "tend_rules")
    last_changed = later("agent.growth.beliefs.documents", "last_changed")
    model_document = later("agent.growth.beliefs.documents", "model_document")
    person_model = later("agent.growth.beliefs.learn", "person_model")
    says = later("agent.growth.beliefs.sign", "says")
    load_reflections = later("agent.growth.reflections.store", "load_reflections")
    reflection_document = later("agent.growth.reflections.documents", "reflection_document")
    format_beliefs = later("agent.interfaces.cli.profile_texts", "format_beliefs")

_SHOWN, _LAST = 100, 5
_ORDER = ("active", "probation", "deprecated")


@group("list")
def command() -> None:
    """What the agent has learned from its work with you: rules, what it believes you prefer, and its reflections.

    Rules are notes in rules/. The agent proposes them, and follows them after your yes: first on probation, then
    active, and set aside when they do not help. A sentence of your own in a note there is a rule, too. NAME is a rule's
    note, its name, or the beginning of that.
    """


@group("list")
def rules() -> None:
    """Rules are notes in rules/. The agent proposes them from what it has learned, and follows them after your yes:
    first on probation, then active, and set aside when they do not help. You can write one yourself: a sentence in a
    note there is a rule.

    NAME is a rule's note, its name, or the beginning of that.
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
        lines = [said("rules:"), *(f"  {line}" for line in found.lines or [found.empty])]
        lines += ["", said("what I believe you prefer (vault-agent lessons beliefs says why):")]
        believed = [f"  {shown_confidence(each.confidence)}  {says(each.dimension, each.value, language)}"
                    for each in model.beliefs]  # fmt: skip
        lines += believed or [f"  {said('nothing is believed about what you prefer yet')}"]
        lines += ["", said("what I thought of my runs:")]
        nothing = said("nothing yet; vault-agent lessons reflect looks back now")
        thought = [
            f"  {format_time(each.at, now)}  {clipped(each.result or each.error, _SHOWN)}  {each.path}"
            for each in reflected[: -_LAST - 1 : -1]
        ]
        return as_lines([*lines, *(thought or [f"  {nothing}"])])

    output.emit(document, text)


@rules.command("list", short_help="List the rules with their uses.")
@in_vault
def list_rules(output: Output, workspace: Workspace) -> None:
    """List the rules: how many runs had each before them, and how many of those went well."""
    found = _rules(workspace)
    output.emit(found.document, as_lines(found.lines) if found.lines else found.empty)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules as a document and as lines; `empty` is said where there are none."""

    document: Mapping[str, object]
    lines: list[str]
    empty: str


def _rules(workspace: Workspace) -> _Rules:
    book, waiting = load_book(workspace.vault), pending_proposals(workspace.vault, "rule")
    rules = sorted(book.rules, key=lambda rule: (_ORDER.index(rule.status), rule.path))
    document = {
        "rules": [rule_document(book, rule) for rule in rules],
        "waiting": [{"path": each.path, "question": each.question} for each in waiting],
    }
    width = max((columns(rule.name) for rule in rules), default=0)
    lines = [_line(book, rule, width) for rule in rules]
    lines += ["", said("they wait for your yes:")] if waiting else []
    lines += [f"{each.question}  {each.path}" for each in waiting]
    empty = said("there are no rules yet; write one: {rules}NAME.md", rules=workspace.vault.home.at(RULES))
    return _Rules(document, lines, empty)


@command.command(short_help="Show a rule, what it rests on, and what became of it.")
@click.argument("name", metavar="NAME")
@in_vault
def show(output: Output, workspace: Workspace, name: str) -> None:
    """Show a rule with its case, its evidence, and all that became of it."""
    book, now = load_book(workspace.vault), workspace.clock.now()
    rule = book.find(name)
    document = rule_document(book, rule)
    rows = list(rule_history(book, rule))
    history = [{"at": row.at.isoformat(), "event": row.event, "by": row.by, "why": row.why} for row in rows]
    lines = [
        f"{rule.path}  {said(rule.status)}",
        rule.sentence,
        said("{successes} of {uses} runs with it went well", uses=document["uses"], successes=document["successes"]),
        *(said("rests on {path}", path=path) for path in rule.evidence),
        "" if rows else said("the log has nothing about it yet"),
        *(f"{format_time(row.at, now)}  {said(row.event)}  {row.why}" for row in rows),
    ]
    output.emit({"rule": {**document, "log": history}}, as_lines(lines))


@command.command(short_help="Set a rule aside.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@in_vault
def deprecate(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Set a rule aside: no run is given it any more, and it does not come back by itself."""
    work = rule_work(workspace)
    rule = deprecate_rule(work, load_book(workspace.vault).find(name), reason)
    back = "{rule} is set aside; vault-agent lessons restore {rule} brings it back"
    _decided(output, rule, said(back, rule=rule.name))


@command.command(short_help="Make a rule active.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@in_vault
def restore(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Make a rule active: one that was set aside, or one on probation. It is then not set aside without asking you."""
    rule = restore_rule(rule_work(workspace), load_book(workspace.vault).find(name), reason)
    _decided(output, rule, said("{rule} is active", rule=rule.name))


@command.command(short_help="Look at the reflections and the uses of rules now.")
@in_vault
def learn(output: Output, workspace: Workspace) -> None:
    """Look now at what the reflections say and how the rules have done; a running daemon does so by itself."""
    if not workspace.settings.growth.enabled:
        raise UserError("growth is switched off", hint="vault-agent config set growth.enabled true")
    with closing(open_index(workspace)) as index:
        rows = tend_rules(rule_work(workspace, lambda: vectors_of(index.chosen.embedder)))
    waiting = pending_proposals(workspace.vault, "rule")
    lines = [f"{said(row.event)}  {row.words}  {row.why}" for row in rows]
    lines += [f"{each.question}  {each.path}" for each in waiting]
    document = {
        "changes": [{"path": row.path or None, "event": row.event, "rule": row.words, "why": row.why} for row in rows],
        "waiting": [{"path": each.path, "question": each.question} for each in waiting],
    }
    output.emit(document, as_lines(lines) or said("nothing new was learned"))


def _line(book: RuleBook, rule: LearnedRule, width: int) -> str:
    uses = book.counted(rule)
    went_well = sum(use.is_success for use in uses)
    counts = said("{successes} of {uses}", successes=went_well, uses=len(uses)) if uses else "-"
    state = f"{padded(said(rule.status), 10)}  {padded(counts, 8)}"
    return f"{padded(rule.name, width)}  {state}  {clipped(rule.sentence, _SHOWN)}"


def _decided(output: Output, rule: LearnedRule, shown: str) -> None:
    output.emit({"rule": {"path": rule.path, "status": rule.status}}, shown)


@command.command(short_help="Show what I believe you prefer, and by what.")
@in_vault
def beliefs(output: Output, workspace: Workspace) -> None:
    """Show what I believe you prefer, with how sure that is and what it rests on; also what is not sure enough to stand
    in profile/31-preferences.md. Above 0.6 a model is told of it, for texts of its kind; above 0.9 it is confirmed."""
    language, model = workspace.settings.vault.language, person_model(workspace)
    output.emit(
        lambda: model_document(workspace.vault, model, language),
        lambda: as_lines(format_beliefs(model, last_changed(workspace.vault), language)),
    )


for _each in (show, deprecate, restore, learn):
    rules.add_command(_each)
