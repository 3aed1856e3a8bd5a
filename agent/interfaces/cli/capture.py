"""`vault-agent capture`: keeps words, a page, the clipboard or files as a note."""

import sys
from pathlib import Path

import click

from agent.deeds.capture import Captured, capture, with_page
from agent.errors import UserError
from agent.interfaces.cli.clipboard import clipboard_text
from agent.interfaces.cli.declare import in_vault, words_argument
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, progress
from agent.markdown.inertness.active import is_link
from agent.runs.captured_files import CapturedFile
from agent.workspace.workspace import Workspace

_MOST = 8 << 20
"""Bytes of standard input that are read: more than the longest text that is kept."""


@click.command()
@words_argument("words", required=False)
@click.option("--clipboard", is_flag=True, help="Keep what is in the clipboard.")
@click.option("--url", metavar="ADDRESS", default="", help="Keep the text of this page of the web.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="Keep a file, too; may be given several times.")
@click.option("--mine", is_flag=True, help="What is piped in or in the clipboard are your own words.")
@click.option("--today", is_flag=True, help="Into the note of the day, in place of one in the inbox.")
@in_vault
def command(
    output: Output,
    workspace: Workspace,
    words: str | None,
    clipboard: bool,
    url: str,
    files: tuple[str, ...],
    mine: bool,
    today: bool,
) -> None:
    """Keep WORDS as a note in inbox/ that asks nothing: an idea, a page, a text from elsewhere.

    WORDS are your own; an address alone is read as a page. What is piped in, the clipboard and pages count as a
    stranger's text. It is one commit: undo takes it back.
    """
    own, shared = words or "", ""
    if clipboard:
        shared = clipboard_text()
    elif own == "-" or (not (own or url or files) and not sys.stdin.isatty()):
        own, shared = "", sys.stdin.buffer.read(_MOST).decode("utf-8", "replace")
    if not url and own and is_link(own.strip()) and "://" in own and " " not in own.strip():
        own, url = "", own.strip()
    if mine:
        own, shared = "\n\n".join(filter(None, (own, shared))), ""
    most = int(workspace.settings.capture.largest_megabytes * 1_000_000) + 1
    what = Captured(own, shared, "", url, tuple(_file(each, most) for each in files))
    if url:
        progress("reading the page …")
        what = with_page(what, workspace)
    captured = capture(workspace, what, today=today, mine=mine)
    lines = [captured.path, *(f"  {each}" for each in captured.files)]
    lines.append(
        tr("it waits, because {queued}; it is written when that ends", queued=tr(captured.queued))
        if captured.queued
        else tr("commit {commit}", commit=(captured.commit or "")[:12])
    )
    output.emit(captured, "\n".join(lines))


def _file(name: str, most: int) -> CapturedFile:
    """The file, or so much of it that it is known to be too large."""
    try:
        with Path(name).open("rb") as stream:
            return CapturedFile(Path(name).name, stream.read(most))
    except OSError as error:
        hint = "name a file that you may read"
        raise UserError("{name} cannot be read", hint=hint, name=name) from error
