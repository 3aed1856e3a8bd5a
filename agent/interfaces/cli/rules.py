"""`vault-agent rules`: lists and shows what the agent has learned to do, sets rules aside and brings them back."""

from contextlib import closing
from typing import TYPE_CHECKING

import click

from agent.app.open import open_workspace
from agent.errors import UserError
from agent.events.bus import ignore_event
from agent.growth.rules.book import RuleBook, load_book, rule_document, rule_history
from agent.growth.rules.deciding import deprecate_rule, restore_rule
from agent.growth.rules.rule import LearnedRule
from agent.interfaces.cli.foreground import stopped_by_ctrl_c
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines, columns, padded
from agent.lazy import later
from agent.markdown.title import clipped
from agent.vault.folders import RULES
from agent.vault.proposals.proposals import pending_proposals

if TYPE_CHECKING:
    from agent.app.measured_rules import measured_rule_work
    from agent.app.rules import rule_work
    from agent.growth.rules.tend import tend_rules
    from agent.workspace.search_index import open_index
else:
    open_index = later("agent.workspace.search_index", "open_index")
    measured_rule_work = later("agent.app.measured_rules", "measured_rule_work")
    rule_work = later("agent.app.rules", "rule_work")
    tend_rules = later("agent.growth.rules.tend", "tend_rules")

_SHOWN = 100
_ORDER = ("active", "probation", "deprecated")


@click.group(short_help="What the agent has learned to do: list, show, set aside.", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Rules are notes in rules/. The agent proposes them from what it has learned, and follows them after your yes:
    first on probation, then active, and set aside when they do not help. You can write one yourself: a sentence in a
    note there is a rule.

    NAME is a rule's note, its name, or the beginning of that.
    """
    if ctx.invoked_subcommand is None:
        _list(ctx.obj)


@command.command("list", short_help="List the rules with their uses.")
@click.pass_obj
def list_(output: Output) -> None:
    """List the rules: how many runs had each before them, and how many of those went well."""
    _list(output)


def _list(output: Output) -> None:
    workspace = open_workspace(output.vault())
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
@click.pass_obj
def show(output: Output, name: str) -> None:
    """Show a rule with its case, its evidence, and all that became of it."""
    workspace = open_workspace(output.vault())
    book = load_book(workspace.vault)
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
        *(f"{row.at:%Y-%m-%d %H:%M}  {said(row.event)}  {row.why}" for row in rows),
    ]
    output.emit({"rule": {**document, "log": history}}, as_lines(lines))


@command.command(short_help="Set a rule aside.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@click.pass_obj
def deprecate(output: Output, name: str, reason: str) -> None:
    """Set a rule aside: no run is given it any more, and it does not come back by itself."""
    workspace = open_workspace(output.vault())
    work = rule_work(workspace)
    rule = deprecate_rule(work, load_book(workspace.vault).find(name), reason)
    _decided(output, rule, said("{rule} is set aside; vault-agent rules restore {rule} brings it back", rule=rule.name))


@command.command(short_help="Make a rule active.")
@click.argument("name", metavar="NAME")
@click.option("--reason", default="", metavar="TEXT", help="Why; the log keeps it.")
@click.pass_obj
def restore(output: Output, name: str, reason: str) -> None:
    """Make a rule active: one that was set aside, or one on probation. It is then not set aside without asking you."""
    workspace = open_workspace(output.vault())
    rule = restore_rule(rule_work(workspace), load_book(workspace.vault).find(name), reason)
    _decided(output, rule, said("{rule} is active", rule=rule.name))


@command.command(short_help="Look at the reflections and the uses now.")
@click.pass_obj
def learn(output: Output) -> None:
    """Look now at what the reflections say and how the rules have done; a running daemon does so by itself.

    A rule that is proposed is first tried on past tasks, if there is a model: that may take minutes. Ctrl-C stops it.
    """
    workspace = open_workspace(output.vault())
    if not workspace.settings.growth.enabled:
        raise UserError("growth is switched off", hint="vault-agent config set growth.enabled true")
    with stopped_by_ctrl_c() as cancelled, closing(open_index(workspace)) as index:
        rows = tend_rules(measured_rule_work(workspace, index, ignore_event, cancelled))
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
