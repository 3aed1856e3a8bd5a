"""`vault-agent diff`: the changes of a commit, or the uncommitted ones, line by line."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import said
from agent.interfaces.cli.lookup import path_with_changes
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import Printed, Styled, patch_line
from agent.lazy import later
from agent.vault.history.commits import resolve
from agent.vault.history.difference import FileDifference, of_commit, of_working_tree
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.deeds.changes import diff_of
else:  # only for --json
    diff_of = later("agent.deeds.changes", "diff_of")

_END = b"\n"
_SHOWN = 100_000
"""The most bytes of the patch of one file on a terminal: about thirty screens."""


@click.command(
    help="Show what a change did to the notes.\n\nWith COMMIT, what it changed; without, what is not committed yet, "
    "new notes included.",
)
@click.argument("commit", required=False)
@click.option("--path", metavar="P", help="Only this note or folder.")
@click.option("--raw", is_flag=True, help="Into a pipe or file byte for byte, control characters included.")
@in_vault
def command(output: Output, workspace: Workspace, commit: str | None, path: str | None, raw: bool) -> None:
    vault = workspace.vault.whole
    oid: str | None = None
    if commit is None:
        found = of_working_tree(vault)
    else:
        oid = resolve(vault, commit)
        found = of_commit(vault, oid)
    if path:
        found = [item for item in found if item.is_in(path_with_changes(path, vault))]
    output.emit(lambda: diff_of(oid, found), lambda: _format(found), raw=raw)
    if not found:
        output.note(said("everything is committed") if commit is None and not path else said("no note was changed"))


def _format(found: Sequence[FileDifference]) -> Printed | bytes:
    """The patch as git wrote it, byte for byte; on a terminal coloured, and only the beginning of a long one."""
    if not sys.stdout.isatty():
        return b"".join(item.patch for item in found)
    lines = [line for item in found for line in _shown_lines(item)]
    return [piece for line in lines for piece in ("\n", line)][1:]


def _shown_lines(item: FileDifference) -> Iterator[Styled]:
    patch = item.patch
    end = len(patch) if len(patch) <= _SHOWN else patch.rfind(_END, 0, _SHOWN) + 1 or _SHOWN
    for line in patch[:end].decode("utf-8", "backslashreplace").removesuffix("\n").split("\n"):
        yield patch_line(line)
    if end < len(patch):
        left = f"{patch.count(_END, end):,}"
        yield Styled(said("… more lines: {count}. A pipe gets all of them: … | less", count=left), dim=True)
