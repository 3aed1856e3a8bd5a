"""`vault-agent memory`: the upkeep of what is remembered, and how much there is of it."""

from collections import Counter
from collections.abc import Iterator, Mapping

import click

from agent.app.build import build
from agent.app.memories import Upkeeper
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.times import absolute
from agent.memory.expiry import expiry
from agent.memory.kept import ARCHIVED, aware, kept
from agent.memory.lifecycle import Upkeep
from agent.memory.memory_note import remembered
from agent.memory.report import bullets
from agent.vault.folders import ENTRIES, FORGOTTEN, MEMORY_NOTE
from agent.vault.write.change import Outcome

_SOON = 7 * 86_400


@click.group(short_help="Tend what is remembered, and see how much it is.")
def command() -> None:
    """Tend what is remembered, and see how much it is.

    The upkeep runs by itself once a day; here it runs at once.
    """


@command.command(short_help="Archive, merge and sum up now.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@click.pass_obj
def run(output: Output, dry_run: bool) -> None:
    """Archive what has expired, merge what says the same, shorten old days, and bring MEMORY.md up to date.

    It is one commit with a report in the daily note; undo takes it back.
    """
    upkeeper = Upkeeper(build(output.vault()))
    upkeep, outcome = (upkeeper.plan(), Outcome()) if dry_run else upkeeper.run()
    output.emit(_document(upkeep, outcome, dry_run), lambda: as_lines(_said(upkeep, outcome, dry_run)))


@command.command(short_help="Count what is remembered.")
@click.pass_obj
def report(output: Output) -> None:
    """Count the entries by type, what expires soon, what is archived and forgotten, and the facts in MEMORY.md."""
    app = build(output.vault())
    paths, now = app.vault.note_paths(), app.clock.now()
    entries = kept(app.vault, (path for path in paths if path.startswith(ENTRIES)))
    ends = [until for each in entries if (until := expiry(each.entry, app.settings.memory)) is not None]
    document = {
        "entries": len(entries),
        "types": dict(sorted(Counter(each.entry.type.value for each in entries).items())),
        "expired": sum(aware(until) <= now for until in ends),
        "expire_soon": sum(0 < (aware(until) - now).total_seconds() <= _SOON for until in ends),
        "archived": sum(path.startswith(ARCHIVED) for path in paths),
        "forgotten": sum(path.startswith(FORGOTTEN) for path in paths),
        "facts": len(remembered((app.vault.read(MEMORY_NOTE) or b"").decode("utf-8", "replace"))),
        "oldest": absolute(aware(entries[-1].entry.created), now) if entries else None,
    }
    output.emit(document, lambda: "\n".join(_counted(document)))


def _document(upkeep: Upkeep, outcome: Outcome, dry_run: bool) -> Mapping[str, object]:
    found = upkeep.report
    return {
        "dry_run": dry_run,
        "commit": outcome.commit,
        "queued": outcome.queued,
        "counts": dict(found.counts),
        "archived": list(found.archived),
        "merged": [{"into": into, "others": list(others)} for into, others in found.merged],
        "shortened": list(found.shortened),
        "added": list(found.added),
        "doubted": list(found.doubted),
        "memory_merged": found.memory_merged,
        "memory_archived": list(found.memory_archived),
        "too_large": found.too_large,
    }


def _said(upkeep: Upkeep, outcome: Outcome, dry_run: bool) -> Iterator[str]:
    if upkeep.report.is_empty:
        yield "nothing to do"
    elif dry_run:
        yield "would do this; nothing is changed yet:"
    elif outcome.queued:
        yield f"waits, because {outcome.queued}; it is done when that ends:"
    else:
        yield f"done in {(outcome.commit or '')[:10]}:"
    yield from (f"  {line}" for line in bullets(upkeep.report, "en"))


def _counted(document: Mapping[str, object]) -> Iterator[str]:
    types = document["types"]
    kinds = ", ".join(f"{name} {count}" for name, count in types.items()) if isinstance(types, dict) else ""
    yield f"entries: {document['entries']}" + (f" ({kinds})" if kinds else "")
    yield f"expire within a week: {document['expire_soon']}, expired already: {document['expired']}"
    yield f"in the archive: {document['archived']}, forgotten: {document['forgotten']}"
    yield f"facts in {MEMORY_NOTE}: {document['facts']}"
    if document["oldest"]:
        yield f"the oldest entry is of {document['oldest']}"
