"""`vault-agent recall --explain`: the text that a model would get for a task, and its share of the token budget."""

from collections.abc import Iterable
from contextlib import closing
from functools import partial

import click

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.context.assemble import Opening
from agent.context.budget import BudgetRow
from agent.errors import UserError
from agent.interfaces.cli.declare import words_argument
from agent.interfaces.cli.guest import Asking, asking, guest_options
from agent.interfaces.cli.language import listed, spoken, tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import columns, padded
from agent.interfaces.cli.progress_bar import indexing
from agent.loop.records import RunRequest
from agent.workspace.catch_up import catch_up
from agent.workspace.search_index import open_index

_HEADS = (("tokens", 10), ("allowed", 10), ("kept", 7), ("cut", 6))


def format_budget(rows: Iterable[BudgetRow]) -> str:
    """The parts of a request and their tokens, with a sum below them."""
    lines = list(rows)
    whole = BudgetRow(
        "together",
        sum(line.used for line in lines),
        sum(line.allowed for line in lines),
        sum(line.included for line in lines),
        sum(line.cut for line in lines),
    )
    heads = [" " * (width - columns(head)) + head for head, width in ((tr(name), width) for name, width in _HEADS)]
    body = [
        f"{padded(tr(row.name), 14)}{row.used:>10,}{row.allowed:>10,}{row.included:>7,}{row.cut:>6,}"
        for row in (*lines, whole)
    ]
    return "\n".join([padded(tr("part"), 14) + "".join(heads), *body])


@click.command()
@words_argument("task", required=False)
@click.option("--explain", metavar="TASK", default="", hidden=True, help="The same as TASK.")
@guest_options
@click.pass_obj
def command(output: Output, task: str | None, explain: str, name: str, group: str, channel: str) -> None:
    """Show the budget table of a new session for TASK, and a receipt for each passage. No model is called."""
    task = task or explain
    if not task.strip():
        raise UserError("the task is empty", hint='vault-agent recall --explain "What did I plan for June?"')
    show_context(output, task, asking(name, group, channel))


def show_context(output: Output, task: str, who: Asking) -> None:
    """Print what a model would be given for a task of this person, and its share of the budget."""
    workspace = open_workspace(output.vault())
    with closing(open_index(workspace)) as index:
        late = catch_up(workspace, index, show=partial(indexing, output))
        with closing(build_runs(workspace, index)) as agent:
            start, rows, tools = agent.explain(RunRequest(task, who.speaker, who.role))
            model = agent.account.models.main.model
    document = {
        "task": task,
        "model": fields(model, "name window present"),
        "rows": [fields(row, "allowed cut", part=row.name, tokens=row.used, kept=row.included) for row in rows],
        "tools": tools,
        "receipts": [fields(each, "path lines commit score why") for each in start.receipts],
        "untrusted": list(start.untrusted),
        "absent": [str(each) for each in start.absent],
        "problems": [*start.problems, *([late] if late else [])],
    }
    output.emit(document, lambda: _format(start, rows, tools, late))


def _format(start: Opening, rows: tuple[BudgetRow, ...], tools: tuple[str, ...], late: str | None) -> str:
    lines = [format_budget(rows), "", tr("tools: {tools}", tools=listed(tools) or tr("none")), ""]
    for message in start.messages:
        lines.append(tr("before the task, {source}:", source=tr(message.source)))
        lines += [f"  {line}" for line in start.remark(message, spoken()).splitlines()]
    lines += [tr("not given, {reason}", reason=tr(reason)) for reason in start.absent]
    lines += [tr("untrusted text: {source}", source=source) for source in start.untrusted]
    lines += [tr("problem: {problem}", problem=tr(problem)) for problem in (*start.problems, *([late] if late else []))]
    return "\n".join(lines).rstrip()
