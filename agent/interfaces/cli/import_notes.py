"""`vault-agent import`: converts memories of an older layout into entries."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, said
from agent.interfaces.cli.output import Output
from agent.memory.capture.importing import ImportedFile, ImportResult, import_entries
from agent.vault.change import Outcome
from agent.vault.folders import AgentFolder
from agent.workspace.workspace import Workspace

_SHOWN = 20
_REASONS = {
    ImportResult.KNOWN: "known already",
    ImportResult.FORGOTTEN: "was forgotten",
    ImportResult.SECRET: "holds a secret that history would keep",
    ImportResult.UNKNOWN: "no memory of an older layout",
}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@in_vault
def command(output: Output, workspace: Workspace, folder: Path, dry_run: bool) -> None:
    """Make an entry of each memory in FOLDER: a flat folder of Markdown notes, each named by its id.

    The folder is only read. Other files are left alone and listed; a second import adds no duplicates. It is one
    commit: undo takes it back.
    """
    found, outcome = import_entries(workspace.vault, folder, dry_run=dry_run)
    output.emit(
        _document(workspace.vault.home, found, outcome, dry_run), lambda: "\n".join(_format(found, outcome, dry_run))
    )


def _document(
    home: AgentFolder, found: Sequence[ImportedFile], outcome: Outcome, dry_run: bool
) -> Mapping[str, object]:
    taken = [
        {"file": each.name, "path": home.at(each.entry.path)}
        for each in found
        if each.result is ImportResult.TAKEN and each.entry
    ]
    left = [{"file": each.name, "reason": each.result.value} for each in found if each.result is not ImportResult.TAKEN]
    return {"dry_run": dry_run, "commit": outcome.commit, "queued": outcome.queued, "taken": taken, "left": left}


def _format(found: Sequence[ImportedFile], outcome: Outcome, dry_run: bool) -> Iterator[str]:
    taken = sum(each.result is ImportResult.TAKEN for each in found)
    memories = counted(taken, "1 memory", "{count} memories")
    if dry_run:
        yield said("would take in {memories}; nothing is changed yet", memories=memories)
    elif outcome.queued:
        yield said(
            "{memories} wait, because {queued}; they are written when that ends",
            memories=memories,
            queued=said(outcome.queued),
        )
    else:
        yield said("took in {memories}", memories=memories)
    left = [each for each in found if each.result is not ImportResult.TAKEN]
    yield from (
        said("  left alone: {name}: {reason}", name=each.name, reason=said(_REASONS[each.result]))
        for each in left[:_SHOWN]
    )
    if len(left) > _SHOWN:
        yield said("  and {count} more", count=len(left) - _SHOWN)
    if outcome.commit:
        yield said("to take it back: vault-agent undo {commit}", commit=outcome.commit[:10])
