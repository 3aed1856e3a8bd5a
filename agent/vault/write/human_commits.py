"""Commits the edits that people made by hand, in their name.

A commit has every change that git finds and that is not staged. Staged files, and files that a git filter would
rewrite, are left for the person to commit. One commit has a whole burst of edits, so that a rename stays a rename.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from agent.config.masking import KnownSecrets
from agent.errors import AgentError
from agent.vault.change import Outcome, Stamp
from agent.vault.message import compose, one_line
from agent.vault.plumbing.commit import CommitPlan, Edits, Layer, Tip
from agent.vault.plumbing.identities import person
from agent.vault.plumbing.objects import Pack, TreeEntry
from agent.vault.plumbing.repository import Place
from agent.vault.secrets import without_secrets
from agent.vault.worktree.borders import submodule_above
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import Dirty, DirtyKind, Survey, filtered, survey
from agent.vault.write.journal import PERSON, JournalRecord, Planned
from agent.vault.write.loss import Rewrite, lost_notes
from agent.vault.write.mass_change import Touched, rewrites
from agent.vault.write.unsettled import WaitingFiles
from agent.vault.write.writer import Writer

_LISTED = 40
_SAVE_SECONDS = 0.5
"""Seconds to wait for a save in progress (it takes a few milliseconds) before its file counts as emptied."""


def commit(writer: Writer, *, confirmed: bool = False, quiet: bool = False, subject: str = "") -> Outcome:
    """Commit a person's unstaged edits in their name; must be called under the writer lock.

    `quiet` waits for the end of a burst: nothing is committed while a file is younger than the quiet interval. A file
    that another program keeps open, or that cannot be read, is left for later and listed in the outcome. Raises
    `MassChange` if too many notes would be lost without `confirmed`, and `LockHeld` if git's index is locked.
    """
    reason = writer.waiting_reason()
    if reason:
        return Outcome(queued=reason)
    found = _survey(writer)
    changed = [item for item in found.changed if item.kind not in {DirtyKind.STAGED, DirtyKind.UNMERGED}]
    aside = filtered(writer.git, writer.place, [item.path for item in changed if item.kind is not DirtyKind.DELETED])
    waiting = WaitingFiles(
        writer.files, writer.clock, writer.layout.folder / "unsettled.json", writer.options.quiet_seconds
    )
    settled = waiting.sort([item for item in changed if item.path not in aside], quiet=quiet)
    mine = settled.ready
    unread = tuple(dict.fromkeys((*found.unread, *settled.unread)))
    if not mine:
        return Outcome(fresh=settled.fresh, open=settled.open, unread=unread)
    contents = _Contents(writer, settled.restless)
    if not confirmed:
        _brake(writer, [item for item in mine if item.path not in settled.held])
    token = writer.clock.new_id()
    place = writer.place
    who = person(writer.git)
    recorded: list[Dirty] = []

    def plan(tip: Tip, pack: Pack) -> CommitPlan:
        edits = contents.edits(mine, tip, pack)
        recorded[:] = [item for item in mine if place.in_git(item.path) in edits]
        writer.journal.open(JournalRecord(token, "", "", Stamp("human"), _planned(recorded, edits, place)))
        known = writer.options.known
        line = subject or _subject(recorded, edits, place)
        message = compose(line, Stamp("human"), _body(recorded, known), known=known)
        return CommitPlan((Layer(edits, who, message),), edits)

    def before_ref(commit: str) -> None:
        writer.journal.reached_ref(token, commit)

    writer.journal.open(
        JournalRecord(token, "", "", Stamp("human"), ())
    )  # so that after a crash its locks are recognised
    try:
        with writer.index_lock(token):
            paths = [place.in_git(item.path) for item in mine]
            made = writer.committer.commit(paths, plan, token, read_staged=False, refresh=True, before_ref=before_ref)
    except Exception:  # after an interrupt, as after a crash, `recover` continues
        with suppress(OSError):
            writer.journal.close(token, None)
        raise
    with suppress(OSError):
        writer.journal.close(token, None)
    waiting.recorded(settled.restless)
    paths_made = tuple(item.path for item in recorded) if made[0] else ()
    return Outcome(human=made[0], paths=paths_made, open=settled.open, unread=unread)


def _survey(writer: Writer) -> Survey:
    """The changed files without the held notes; one that a person changed is committed as it was held first."""
    notes = writer.held.all()
    held = {note.path for note in notes if writer.is_unchanged(note)}
    writer.commit_held([note for note in notes if note.path not in held])
    found = survey(writer.git, writer.place)
    return replace(found, changed=tuple(item for item in found.changed if item.path not in held))


def _planned(items: Sequence[Dirty], edits: Edits, place: Place) -> tuple[Planned, ...]:
    """The journal's rows of the index entries, which `recover` removes after a crash before the commit."""
    pairs = [(item, edits[place.in_git(item.path)]) for item in items]
    return tuple(Planned(item.path, None, entry.oid if entry else None, "", PERSON) for item, entry in pairs)


@dataclass(frozen=True, slots=True)
class _Contents:
    """The current files, read on demand and not stored; `restless` ones are read even while a program writes them."""

    writer: Writer
    restless: frozenset[str]

    def edits(self, items: Sequence[Dirty], tip: Tip, pack: Pack) -> Edits:
        """The index entries to commit; a file that another program keeps open is left for the next commit."""
        edits: Edits = {}
        for item in items:
            path = self.writer.place.in_git(item.path)
            if submodule_above(tip, path) is not None:
                continue  # the person is replacing a submodule, and commits that themselves
            files = self.writer.files
            try:
                found = files.read_any(item.path) if item.path not in self.restless else files.read_now(item.path)
            except (AgentError, OSError):
                continue
            if found is not None:
                edits[path] = TreeEntry(found[0], pack.add("blob", found[1]))
            elif tip.entry(path) is not None:
                edits[path] = None
        return edits


def _brake(writer: Writer, items: Sequence[Dirty]) -> None:
    """Raise `MassChange` if the burst loses too many notes; reads nothing if too few notes changed."""
    there = [item for item in items if item.oid and is_note(item.path)]
    brake = writer.options.brake
    if len(there) <= brake.notes:
        return
    total = writer.count_notes()
    if len(there) > brake.limit(total):
        brake.check(lost_notes(lambda: _rewrites(writer, items)), 0, total, "committing what changed on disk")


def _rewrites(writer: Writer, items: Sequence[Dirty]) -> Iterator[Rewrite]:
    """Each file in HEAD and now; a file that cannot be read is left for the next commit."""
    for before in rewrites(writer.git, [Touched(item.path, item.oid, "") for item in items]):
        try:
            found = writer.files.read_now(before.path, _SAVE_SECONDS)
        except (AgentError, OSError):
            continue
        yield Rewrite(before.path, before.before, found[1] if found is not None else None)


def _subject(items: Sequence[Dirty], edits: Edits, place: Place) -> str:
    renames = _renames(items, edits, place)
    if len(renames) == 1 and len(items) == 2:
        ((old, new),) = renames.items()
        return f"human(notes): rename {old} → {new}"
    if len(items) == 1:
        verb = {DirtyKind.EDITED: "edit", DirtyKind.CREATED: "create", DirtyKind.DELETED: "delete"}[items[0].kind]
        return f"human(notes): {verb} {items[0].path}"
    moved = {*renames, *renames.values()}
    counts = [(kind.value, sum(1 for i in items if i.kind is kind and i.path not in moved)) for kind in DirtyKind]
    counts.append(("renamed", len(renames)))
    return "human(notes): " + ", ".join(f"{count} {name}" for name, count in counts if count)


def _renames(items: Sequence[Dirty], edits: Edits, place: Place) -> dict[str, str]:
    """Old to new path of the files that moved with unchanged content."""
    arrived = {
        entry.oid: item.path
        for item in items
        if item.kind is DirtyKind.CREATED and (entry := edits.get(place.in_git(item.path))) is not None
    }
    return {item.path: arrived[item.oid] for item in items if item.kind is DirtyKind.DELETED and item.oid in arrived}


def _body(items: Sequence[Dirty], known: KnownSecrets) -> str:
    lines = [one_line(without_secrets(f"- {item.kind}: {item.path}", known)) for item in items[:_LISTED]]
    more = len(items) - _LISTED
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])
