"""`vault-agent rules`: lists and shows what the agent has learned to do, sets rules aside and brings them back."""

from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.asking.answers import pending_proposals
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
from agent.vault.folders import RULES
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.app.rules import rule_work
    from agent.growth.patterns.likeness import vectors_of
    from agent.growth.rules.tend import tend_rules
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    vectors_of = later("agent.growth.patterns.likeness", "vectors_of")
    rule_work = later("agent.app.rules", "rule_work")
    tend_rules = later("agent.growth.rules.tend", "tend_rules")

_SHOWN = 100
_ORDER = ("active", "probation", "deprecated")


@group("list")
def command() -> None:
    """Rules are notes in rules/. The agent proposes them from what it has learned, and follows them after your yes:
    first on probation, then active, and set aside when they do not help. You can write one yourself: a sentence in a
    note there is a rule.

    NAME is a rule's note, its name, or the beginning of that.
    """


@command.command("list", short_help="List the rules with their uses.")
@in_vault
def list_(output: Output, workspace: Workspace) -> None:
    """List the rules: how many runs had each before them, and how many of those went well."""
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
    output.emit(document, as_lines(lines) if lines else empty)


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
    _decided(output, rule, said("{rule} is set aside; vault-agent rules restore {rule} brings it back", rule=rule.name))


@command.command(short_help="Make a rule active.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@in_vault
def restore(output: Output, workspace: Workspace, name: str, reason: str) -> None:
    """Make a rule active: one that was set aside, or one on probation. It is then not set aside without asking you."""
    rule = restore_rule(rule_work(workspace), load_book(workspace.vault).find(name), reason)
    _decided(output, rule, said("{rule} is active", rule=rule.name))


@command.command(short_help="Look at the reflections and the uses now.")
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
