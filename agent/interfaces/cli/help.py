"""`vault-agent help`: shows a page of the documentation, lists the pages, or finds words in them; `completion` prints a
script that makes the shell complete commands, options and settings.
"""

from importlib import import_module

import click
from click.shell_completion import get_completion_class

from agent.deeds.documentation import GuidePage, find_topic, search_topics, topics
from agent.errors import Unknown, UserError
from agent.interfaces.cli.commands import COMMANDS
from agent.interfaces.cli.language import first_lines, spoken, tr
from agent.interfaces.cli.output import COMPLETE, PROGRAM, Output
from agent.interfaces.cli.printing import as_lines, is_terminal, padded, show_screens, size

_WIDEST = 100
"""The most columns of a page: longer lines are hard to read."""
_SHOWN = 30


@click.command()
@click.argument("name", metavar="[TOPIC]", required=False, default="")
@click.option("--search", "words", default="", metavar="WORDS", help="List the lines of all pages with these words.")
@click.pass_context
def command(ctx: click.Context, name: str, words: str) -> None:
    """Show the page TOPIC of the documentation; without it, list the pages. The name of a command shows its help.

    The pages are on this machine, and nothing is loaded. On a terminal a long page is shown screen by screen.
    """
    output: Output = ctx.obj
    if words:
        _search(output, words)
    elif not name:
        _list(output)
    else:
        _show(ctx, output, name)


def _list(output: Output) -> None:
    found = topics(spoken())
    width = max(len(each.name) for each in found)
    lines = [f"  {padded(each.name, width)}  {each.title}" for each in found]
    hints = ["", tr("vault-agent help TOPIC shows a page, vault-agent help --search WORDS finds words in all")]
    document = {"topics": [{"name": each.name, "title": each.title} for each in found]}
    output.emit(document, as_lines([*lines, *hints]))


def _search(output: Output, words: str) -> None:
    found = search_topics(words, spoken())
    lines = first_lines((f"{each.topic.name}: {each.line}" for each in found), _SHOWN)
    document = {"lines": [{"topic": each.topic.name, "line": each.line} for each in found]}
    output.emit(document, as_lines(lines) or tr("nothing found"))


def _show(ctx: click.Context, output: Output, name: str) -> None:
    try:
        topic = find_topic(name, spoken())
    except Unknown:
        if name not in COMMANDS:
            raise
        main = ctx.find_root().command
        main.main([name, "--help"], prog_name=ctx.find_root().info_name, standalone_mode=False, obj=output)
        return
    document = {"name": topic.name, "title": topic.title, "text": topic.text}
    if output.json or not is_terminal(error=False):
        output.emit(document, topic.page)
        return
    columns, rows = size()
    text = _drawn(topic, min(columns, _WIDEST))
    if text.count("\n") + 2 > rows:
        show_screens(text)
    else:
        output.emit(document, text)


def _drawn(topic: GuidePage, width: int) -> str:
    """The page in the rows of a terminal."""
    markdown = import_module("agent.interfaces.cli.terminal.markdown")  # slow to load
    console = import_module("rich.console").Console(width=width, color_system=None, force_terminal=True)
    rows = markdown.markdown_rows(topic.page, console)
    return "\n".join("".join(part.text for part in row) for row in rows)


_WHERE = {
    "bash": 'eval "$(vault-agent completion bash)"     # in ~/.bashrc',
    "zsh": 'eval "$(vault-agent completion zsh)"       # in ~/.zshrc',
    "fish": "vault-agent completion fish > ~/.config/fish/completions/vault-agent.fish",
}


@click.command(
    help="Print a shell completion script.\n\nTo use it:\n\n\b\n" + "\n".join(f"  {line}" for line in _WHERE.values())
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    root = ctx.find_root()
    found = get_completion_class(shell)
    if found is None:
        raise UserError("no completion for {shell}", shell=shell)
    script = found(root.command, {}, PROGRAM, COMPLETE).source()
    output = ctx.ensure_object(Output)
    output.emit({"shell": shell, "script": script}, script)
