"""`vault-agent import`: takes in what the person has in other programs, after a preview and a yes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from agent.errors import UserError
from agent.importers.export import open_export
from agent.importers.formats import NAMES, Format, format_of
from agent.importers.plan import ImportChoice, ImportPlan, Kind
from agent.importers.values import LeftReason
from agent.importers.write import WrittenImport, write_import
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.output import Output, progress
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.prompt import agree
from agent.texts import Sentence, text
from agent.vault.folders import OWN_NOTES, is_hidden
from agent.vault.worktree.paths import check
from agent.workspace.workspace import Workspace

_SHOWN = 20
_COUNTS: Mapping[Kind, tuple[str, str]] = {
    "conversations": ("1 conversation", "{count} conversations"),
    "grown": ("1 conversation that goes on", "{count} conversations that go on"),
    "notes": ("1 note", "{count} notes"),
    "facts": ("1 fact", "{count} facts"),
    "files": ("1 file", "{count} files"),
}
_REASONS = {
    LeftReason.UNKNOWN: "nothing that can be read in this form",
    LeftReason.EMPTY: "empty",
    LeftReason.KNOWN: "known already",
    LeftReason.FORGOTTEN: "was forgotten",
    LeftReason.SECRET: "holds a secret that history would keep",
    LeftReason.LINK: "a link",
    LeftReason.NAME: "a name that leads elsewhere",
    LeftReason.KIND: "a kind of file that programs may run",
    LeftReason.SIZE: "larger than git.largest_megabytes",
    LeftReason.BROKEN: "a file in it cannot be read",
    LeftReason.STEERS: "steers that other agent",
    LeftReason.CHANGED: "is here, and its earlier part is another one now",
    LeftReason.TIME: "when it was cannot be read; in an export as JSON it can",
}


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "name",
    type=click.Choice(NAMES),
    metavar="PROGRAM",
    help="Which program has written it; else it is found out.",
)
@click.option("--mine", is_flag=True, help="Notes and facts in it are your own words.")
@click.option("--into", metavar="FOLDER", default="", help="The folder in the vault for notes and files.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing, and do it.")
@in_vault
def command(
    output: Output,
    workspace: Workspace,
    source: Path,
    name: str | None,
    mine: bool,
    into: str,
    dry_run: bool,
    yes: bool,
) -> None:
    """Take in SOURCE, what another program has exported: an archive, a file, or a folder.

    Reads all of it first, shows what would become of it, and asks. Conversations, notes and files get a folder of their
    own, facts become entries; a second import adds only what is new. Nothing in it asks or steers the agent, and it
    counts as a stranger's text unless you say --mine; a conversation does in any case. All of it is one run: undo takes
    it back.
    """
    if not source.exists():
        hint = "name an archive, a file or a folder"
        raise UserError("there is nothing at {source}", hint=hint, source=source)
    with open_export(source) as opened:
        format = format_of(opened, name or "")
        if not format.is_own:  # memories may lie in the vault, too
            _refuse_own(source, workspace.vault.place.root)
        largest = int(workspace.settings.git.largest_megabytes * 1_000_000) or 1 << 62
        plan = ImportPlan(workspace.vault, format, ImportChoice(_folder(workspace, into, format), mine, largest))
        progress("reading the export …")
        plan.survey(opened)
        total = sum(plan.counts[kind] for kind in _COUNTS)
        if dry_run or not total:
            lines = [*_preview(plan), tr("nothing is changed yet")] if total else [*_preview(plan)]
            output.emit(_document(plan, WrittenImport(), dry_run=dry_run), lambda: as_lines(lines))
            return
        if not yes:
            agree(output, [*_preview(plan)], "take all of this in?", Sentence("nothing was imported"))
        with progress_bar(output, tr("written")) as move:
            language = workspace.settings.vault.language
            done = write_import(plan, opened, language, lambda count: move(count, total))
    report = [*(_preview(plan) if yes else []), *_written(done)]
    output.emit(_document(plan, done, dry_run=False), lambda: as_lines(report))


def _refuse_own(source: Path, root: Path) -> None:
    if root.resolve().is_relative_to(source.resolve()):
        raise UserError("the vault lies in {source}", hint="import the folders beside it one by one", source=source)
    if source.resolve().is_relative_to(root.resolve()):
        hint = "its notes are found where they are; vault-agent search finds them"
        raise UserError("{source} is in the vault already", hint=hint, source=source)


def _folder(workspace: Workspace, into: str, format: Format) -> str:
    """The folder of the vault for what is imported; raises `UserError` for one that is not for notes of the person."""
    language = workspace.settings.vault.language
    folder = into.strip().strip("/") or f"{text('imports.folder', language)}/{format.label}"
    inside = check(f"{folder}/a.md")
    if is_hidden(folder) or workspace.vault.home.row(inside) is not OWN_NOTES:
        raise UserError("{folder} is not for imported notes", hint="name a folder of your own", folder=folder)
    return folder


def _document(plan: ImportPlan, done: WrittenImport, *, dry_run: bool) -> Mapping[str, object]:
    return {
        "dry_run": dry_run,
        "format": plan.format.name,
        "folder": plan.choice.folder,
        "mine": plan.is_mine,
        **{kind: plan.counts[kind] for kind in _COUNTS},
        "known": plan.counts["known"],
        "run": done.run or None,
        "commits": list(done.commits),
        "queued": done.queued,
        "paths": list(done.paths) or plan.examples,
        "masked": done.masked,
        "left": [
            *({"file": each.name, "reason": each.why.value} for each in plan.left),
            *({"file": path, "reason": LeftReason.SECRET.value} for path in done.secret),
        ],
    }


def _preview(plan: ImportPlan) -> Iterator[str]:
    found = [counted(plan.counts[kind], *words) for kind, words in _COUNTS.items() if plan.counts[kind]]
    what = tr(", ").join(found) if found else tr("nothing new")
    yield tr("{program}: {what}", program=plan.format.label, what=what) + _days(plan)
    if plan.examples:
        yield tr("  into {folder}/, such as", folder=plan.choice.folder)
        yield from (f"    {path}" for path in plan.examples)
    if plan.counts["known"]:
        yield tr("  known already: {count}", count=plan.counts["known"])
    yield from _left(plan)
    if found:
        yield _authorship(plan)


def _days(plan: ImportPlan) -> str:
    if plan.days is None:
        return ""
    first, last = (f"{each:%Y-%m-%d}" for each in plan.days)
    return tr(" (from {first} to {last})", first=first, last=last) if first != last else f" ({first})"


def _authorship(plan: ImportPlan) -> str:
    if not (plan.counts["notes"] or plan.counts["facts"]):
        return tr("  its text counts as a stranger's")
    if not plan.is_mine:
        return tr("  its text counts as a stranger's; with --mine, notes and facts count as your own words")
    return tr("  notes and facts count as your own words; a conversation's text as a stranger's")


def _left(plan: ImportPlan) -> Iterator[str]:
    lines: Sequence[str] = [
        tr("  left out: {name}: {reason}", name=each.name, reason=tr(_REASONS[each.why])) for each in plan.left[:_SHOWN]
    ]
    yield from lines
    if plan.left_count > len(lines):
        yield tr("  and {count} more", count=plan.left_count - len(lines))
        reasons = Counter(each.why for each in plan.left)
        yield from (f"    {tr(_REASONS[why])}: {count}" for why, count in reasons.most_common())


def _written(done: WrittenImport) -> Iterator[str]:
    if done.queued:
        yield tr("it waits, because {queued}; it is written when that ends", queued=tr(done.queued))
    elif done.paths:
        yield counted(len(done.paths), "written: 1 file", "written: {count} files")
    if done.masked:
        yield counted(done.masked, "  a secret was masked in 1 text", "  secrets were masked in {count} texts")
    yield from (tr("  left out: {name}: {reason}", name=path, reason=tr(_REASONS[LeftReason.SECRET]))
                for path in done.secret[:_SHOWN])  # fmt: skip
    if done.run:
        yield tr("to take it back: vault-agent undo --run {run}", run=done.run)
