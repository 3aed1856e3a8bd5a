"""Commits the edits that people made by hand, in their name.

A commit has every change that git finds and that is not staged. Staged files, files that a git filter would rewrite,
and what `left_out` names are left for the person to commit. One commit has a whole burst of edits, so that a rename
stays a rename.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.git.commit import CommitPlan, Edits, Layer, Tip
from agent.git.identities import person
from agent.git.objects import Pack, TreeEntry
from agent.git.repository import Place
from agent.texts import Language, text, translated
from agent.vault.change import Outcome, Stamp
from agent.vault.drafts import Drafts, drafts_file, load_drafts, save_drafts
from agent.vault.message import compose, one_line
from agent.vault.secrets import without_secrets
from agent.vault.worktree.paths import is_note
from agent.vault.worktree.survey import Dirty, DirtyKind, Survey, filtered, submodule_above, survey
from agent.vault.write.commit_plan import edit_summary, find_renames
from agent.vault.write.held_notes import HeldNote
from agent.vault.write.journal import PERSON, JournalRecord, Planned
from agent.vault.write.left_out import halves, left_out, unchanged_drafts
from agent.vault.write.mass_change import Rewrite, Touched, lost_notes, rewrites
from agent.vault.write.unsettled import Settled, WaitingFiles
from agent.vault.write.writer import Writer

_LISTED = 40
_SAY_YES = "if you mean it: vault-agent commit --yes; `git restore PATH` brings a note back"
_SAVE_SECONDS = 0.5
"""Seconds to wait for a save in progress (it takes a few milliseconds) before its file counts as emptied."""


def commit(
    writer: Writer, *, confirmed: bool = False, quiet: bool = False, drafts: bool = False, subject: str = ""
) -> Outcome:
    """Commit a person's unstaged edits in their name; must be called under the writer lock.

    New files that are large or no text are left out (`left_out`), and the person's drafts without `drafts`.

    `quiet` waits for the end of a burst: nothing is committed while a file is younger than the quiet interval. A file
    that another program keeps open, or that cannot be read, is left for later and listed in the outcome. Raises
    `MassChange` if too many notes would be lost without `confirmed`, and `LockHeld` if git's index is locked.
    """
    reason = writer.waiting_reason()
    if reason:
        return Outcome(queued=reason)
    found = _survey(writer)
    settled, out = _sort(writer, found, quiet=quiet, drafts=drafts)
    mine = settled.ready
    unread = tuple(dict.fromkeys((*found.unread, *settled.unread)))
    if not mine:
        return Outcome(fresh=settled.fresh, open=settled.open, unread=unread, left_out=out)
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
        if not recorded:  # all of it is gone again, or is being written
            return CommitPlan((Layer({}, who, ""),), {})
        writer.journal.open(JournalRecord(token, "", "", Stamp("human"), _planned(recorded, edits, place)))
        known = writer.options.known
        line = subject or _subject(recorded, edits, writer)
        message = compose(line, Stamp("human"), _body(recorded, known, writer.options.language), known=known)
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
    _waiting(writer).recorded(settled.restless)
    paths_made = tuple(item.path for item in recorded) if made[0] else ()
    _drop_drafts(writer, paths_made)
    return Outcome(human=made[0], paths=paths_made, open=settled.open, unread=unread, left_out=out)


def _sort(writer: Writer, found: Survey, *, quiet: bool, drafts: bool) -> tuple[Settled, dict[str, str]]:
    """The changed files by what can be done with them now, and those that are left out, with the reason."""
    changed = [item for item in found.changed if item.kind not in {DirtyKind.STAGED, DirtyKind.UNMERGED}]
    listed = Drafts() if drafts else load_drafts(drafts_file(writer.layout.folder))
    out = {
        **left_out(writer.git, writer.files, writer.options, changed),
        **unchanged_drafts(writer.git, writer.files, listed, changed),
        **halves(writer.git, writer.files, found.changed),
    }
    changed = [item for item in changed if item.path not in out]
    aside = filtered(writer.git, writer.place, [item.path for item in changed if item.kind is not DirtyKind.DELETED])
    return _waiting(writer).sort([item for item in changed if item.path not in aside], quiet=quiet), out


def _drop_drafts(writer: Writer, committed: Sequence[str]) -> None:
    """Take what was committed off the list of drafts."""
    file = drafts_file(writer.layout.folder)
    drafts = load_drafts(file)
    left = {path: blob for path, blob in drafts.files.items() if path not in committed}
    if left != drafts.files:
        with suppress(OSError):  # it is compared by content, so an entry too many does no harm
            save_drafts(file, replace(drafts, files=left))


def _waiting(writer: Writer) -> WaitingFiles:
    seen = writer.layout.folder / "unsettled.json"
    return WaitingFiles(writer.files, writer.clock, seen, writer.options.quiet_seconds)


def _survey(writer: Writer) -> Survey:
    """The changed files without the held notes; one that a person changed is committed as it was held first."""
    _hold_again(writer)
    notes = writer.held.all()
    held = {note.path for note in notes if writer.is_unchanged(note)}
    writer.commit_held([note for note in notes if note.path not in held])
    found = survey(writer.git, writer.place)
    return replace(found, changed=tuple(item for item in found.changed if item.path not in held))


def _hold_again(writer: Writer) -> None:
    """Hold anew the program's own text of which the record can no longer be read: it is never a person's. The journal
    knows what was written here."""
    if not writer.held.unreadable():
        return
    written, now = writer.journal.written(), writer.clock.now().timestamp()
    for item in survey(writer.git, writer.place).changed:
        if item.kind is DirtyKind.DELETED or writer.held.get(item.path) is not None:
            continue
        found = writer.files.read_any(item.path)
        blob = writer.git.blob_id(found[1]) if found is not None else ""
        stamp = writer.journal.stamp_of(item.path, blob) if (item.path, blob) in written else None
        if found is not None and stamp is not None and stamp.actor != "human":
            subject = translated("recovered: {path}", writer.options.language, path=item.path)
            writer.held.put(HeldNote(item.path, item.oid, found[1], subject, stamp, "", (subject,), True, now))
    for file in writer.held.unreadable():  # those that were held anew can be read
        file.unlink(missing_ok=True)


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
        lost = lost_notes(lambda: _rewrites(writer, items))
        brake.check(lost, 0, total, "what changed on disk", "need a yes, so nothing was committed", _SAY_YES)


def _rewrites(writer: Writer, items: Sequence[Dirty]) -> Iterator[Rewrite]:
    """Each file in HEAD and now; a file that cannot be read is left for the next commit."""
    for before in rewrites(writer.git, [Touched(item.path, item.oid, "") for item in items]):
        try:
            found = writer.files.read_now(before.path, _SAVE_SECONDS)
        except (AgentError, OSError):
            continue
        yield Rewrite(before.path, before.before, found[1] if found is not None else None)


def _subject(items: Sequence[Dirty], edits: Edits, writer: Writer) -> str:
    place = writer.place
    entries = {item.path: edits[place.in_git(item.path)] for item in items if item.kind is DirtyKind.CREATED}
    created = {path: entry.oid for path, entry in entries.items() if entry is not None}
    deleted = {item.path: item.oid for item in items if item.kind is DirtyKind.DELETED}
    return edit_summary(
        {item.path: item.kind for item in items}, find_renames(deleted, created), writer.options.language
    )


def _body(items: Sequence[Dirty], known: KnownSecrets, language: Language) -> str:
    rows = (text(f"commit.row_{item.kind}", language, path=item.path) for item in items[:_LISTED])
    lines, more = [one_line(without_secrets(row, known)) for row in rows], len(items) - _LISTED
    return "\n".join([*lines, *([text("commit.rows_more", language, count=more)] if more > 0 else [])])
