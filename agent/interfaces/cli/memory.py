"""`vault-agent memory`: runs the maintenance of memories now, or counts them."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from agent.growth.beliefs.blocks import NOTE
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import listed, spoken, tr
from agent.interfaces.cli.output import Output, fields
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.time_format import format_time
from agent.lazy import later
from agent.memory.store import MemoryCounts, count_memories
from agent.memory.upkeep.lifecycle import UpkeepPlan, report_lines
from agent.runs.upkeep_jobs import Upkeeper
from agent.texts import text
from agent.vault.change import Outcome
from agent.vault.folders import MEMORY_NOTE
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.growth.beliefs.learn import lines_learned
else:
    lines_learned = later("agent.growth.beliefs.learn", "lines_learned")


@click.group()
def command() -> None:
    """Maintain the memories, and count them.

    The maintenance runs once a day; here it runs at once.
    """


@command.command(short_help="Archive, merge and sum up now.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@in_vault
def run(output: Output, workspace: Workspace, dry_run: bool) -> None:
    """Archive expired entries, merge duplicates, summarise old days, and update MEMORY.md.

    It is one commit with a report in the daily note; undo takes it back. What you prefer, by what you said, changed
    and chose, is written down in another one, at most once a day, and what you stated goes into your profile in a
    third.
    """
    upkeeper = Upkeeper(workspace, partial(lines_learned, workspace))
    upkeep, outcome = (upkeeper.plan(), Outcome()) if dry_run else upkeeper.run()
    learned = 0 if dry_run else upkeeper.learn()
    profile = 0 if dry_run else len(upkeeper.fill_profile().made)
    document = {**_document(upkeep, outcome, dry_run), "learned": learned, "profile": profile}
    output.emit(document, lambda: as_lines(_format(upkeep, outcome, dry_run, learned, profile)))


@command.command(short_help="Count what is remembered.")
@in_vault
def report(output: Output, workspace: Workspace) -> None:
    """Count the entries by type, those that expire soon, the archived and forgotten ones, and the facts in
    MEMORY.md."""
    counts = count_memories(workspace.vault, workspace.settings.memory)
    oldest = format_time(counts.oldest, workspace.clock.now()) if counts.oldest else None
    output.emit({**asdict(counts), "oldest": oldest}, lambda: "\n".join(_counted(counts, oldest)))


def _document(upkeep: UpkeepPlan, outcome: Outcome, dry_run: bool) -> Mapping[str, object]:
    found = upkeep.report
    merged = [{"into": into, "others": others} for into, others in found.merged]
    names = "counts archived shortened added memory_merged memory_archived too_large"
    return fields(outcome, "commit queued", dry_run=dry_run) | fields(found, names, merged=merged)


def _format(upkeep: UpkeepPlan, outcome: Outcome, dry_run: bool, learned: int, profile: int) -> Iterator[str]:
    if upkeep.report.is_empty:
        yield from () if learned or profile else [tr("nothing to do")]
    elif dry_run:
        yield tr("would do this; nothing is changed yet:")
    elif outcome.queued:
        yield tr("waits, because {queued}; it is done when that ends:", queued=tr(outcome.queued))
    else:
        yield tr("done in {commit}:", commit=(outcome.commit or "")[:10])
    yield from (f"  {line}" for line in report_lines(upkeep.report, spoken()))
    if learned:
        yield tr("lines changed on what you prefer: {count} (in {note})", count=learned, note=NOTE)
    if profile:
        yield tr("lines added to your profile: {count}", count=profile)


def _kind(name: str) -> str:
    return text(f"pages.entry_{name}", spoken())


def _counted(counts: MemoryCounts, oldest: str | None) -> Iterator[str]:
    types = listed(f"{_kind(name)} {count}" for name, count in counts.types.items())
    entries = tr("entries: {count}", count=counts.entries)
    yield tr("{entries} ({types})", entries=entries, types=types) if types else entries
    yield tr(
        "expire within a week: {expire_soon}, expired already: {expired}",
        expire_soon=counts.expire_soon,
        expired=counts.expired,
    )
    yield tr("in the archive: {archived}, forgotten: {forgotten}", archived=counts.archived, forgotten=counts.forgotten)
    yield tr("facts in {memory_note}: {facts}", memory_note=MEMORY_NOTE, facts=counts.facts)
    if oldest:
        yield tr("the oldest entry is of {oldest}", oldest=oldest)
