"""An open vault: read notes, change them in transactions, commit edits that people made by hand.

Other packages use the vault through this module. `write` makes changes durable; `history` reads and undoes commits.
"""

import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.clock import Clock
from agent.config.masking import KnownSecrets
from agent.dataclass import dataclass
from agent.errors import AgentError, NotAVault, Retryable
from agent.git.repository import MARKER, Place, common_folder, head_commit, locate
from agent.git.runner import Git
from agent.lazy import later, only_once
from agent.texts import Sentence, translated
from agent.vault.folders import AgentFolder
from agent.vault.layout import Layout, layout, settle_home
from agent.vault.options import Options
from agent.vault.private_notes import NOTHING_PRIVATE, PrivateNotes, PublicFiles
from agent.vault.refusal import in_plain_words
from agent.vault.worktree.files import Files

if TYPE_CHECKING:
    from agent.config.durable import holder
    from agent.git.index_lock import git_is_busy
    from agent.records.database import Records
    from agent.vault.change import Outcome, Stamp
    from agent.vault.day_section import marked
    from agent.vault.provenance.record import Provenance, provenance
    from agent.vault.secrets import without_secrets
    from agent.vault.signing_key import SigningKey
    from agent.vault.transaction import Order, Transaction, masked_order, refuse_private, refuse_secrets
    from agent.vault.worktree.survey import Dirty, check_ours, dirty, note_paths
    from agent.vault.write.held_commits import commit_held
    from agent.vault.write.held_notes import HeldNote
    from agent.vault.write.human_commits import commit
    from agent.vault.write.journal import Versions
    from agent.vault.write.recover import recover
    from agent.vault.write.take_in import take_in
    from agent.vault.write.writer import Writer, open_writer
else:
    check_ours = later("agent.vault.worktree.survey", "check_ours")
    commit = later("agent.vault.write.human_commits", "commit")
    commit_held = later("agent.vault.write.held_commits", "commit_held")
    Records = later("agent.records.database", "Records")
    dirty = later("agent.vault.worktree.survey", "dirty")
    git_is_busy = later("agent.git.index_lock", "git_is_busy")
    holder = later("agent.config.durable", "holder")
    marked = later("agent.vault.day_section", "marked")
    masked_order = later("agent.vault.transaction", "masked_order")
    note_paths = later("agent.vault.worktree.survey", "note_paths")
    open_writer = later("agent.vault.write.writer", "open_writer")
    provenance = later("agent.vault.provenance.record", "provenance")
    recover = later("agent.vault.write.recover", "recover")
    refuse_private = later("agent.vault.transaction", "refuse_private")
    refuse_secrets = later("agent.vault.transaction", "refuse_secrets")
    take_in = later("agent.vault.write.take_in", "take_in")
    Transaction = later("agent.vault.transaction", "Transaction")
    without_secrets = later("agent.vault.secrets", "without_secrets")


@dataclass(frozen=True, slots=True)
class Vault:
    """One open vault. Cheap to create; holds no file or process open, and loads what writes when it is needed.

    What reads notes by their paths, and what lists them, leaves the private ones out, and no program may write there.
    """

    place: Place
    layout: Layout
    git: Git
    files: Files
    clock: Clock
    options: Options
    """The settings for writing."""
    private_notes: PrivateNotes
    """The notes that the person keeps from the agent."""
    _writer: "Callable[[], Writer]"
    _provenance: "Callable[[], Provenance]"
    _records: "Callable[[], Records]"
    waits: bool = False  # what is written in the program's own name waits for the evening

    @property
    def writer(self) -> "Writer":
        """What carries out changes."""
        return self._writer()

    @property
    def provenance(self) -> "Provenance":
        """The record of what arrived from elsewhere."""
        return self._provenance()

    @property
    def records(self) -> "Records":
        """What this machine must remember about the vault."""
        return self._records()

    @property
    def home(self) -> AgentFolder:
        """Where the agent's folders and notes lie in the vault."""
        return self.options.home

    @property
    def id(self) -> str:
        """The vault's id on this machine: a clone has another one."""
        return self.layout.id

    @property
    def whole(self) -> "Vault":
        """The vault with the private notes: for what the owner alone sees, and for keeping versions."""
        seen = (self.place, self.layout, self.git, self.files, self.clock, self.options, NOTHING_PRIVATE())
        return Vault(*seen, self._writer, self._provenance, self._records, self.waits)

    @property
    def unasked(self) -> "Vault":
        """The same for work that nobody asked for: what it writes waits for the evening, if nothing else commits."""
        return replace(self, waits=True)

    @property
    def private_folder(self) -> Path:
        """The folder outside the vault for this machine's private files about it."""
        return self.layout.folder

    @property
    def signing_key(self) -> "SigningKey":
        """This machine's key for the commits that the program makes here."""
        return self.writer.signing_key

    @property
    def known(self) -> KnownSecrets:
        """The secret values that must not be written."""
        return self.options.known

    @property
    def head(self) -> str | None:
        """The id of HEAD's commit, read from files without git; None before the first commit."""
        return head_commit(self.place.gitdir, common_folder(self.place.gitdir)) or None

    def masked(self, text: str) -> str:
        """The text with `[secret]` in place of secrets: known values and text that looks like one."""
        return without_secrets(text, self.known)

    @contextmanager
    def transaction(
        self,
        subject: str,
        stamp: "Stamp",
        *,
        body: str = "",
        confirmed: bool = False,
        system: bool = False,
        masked: bool = False,
        hold: bool = False,
    ) -> "Iterator[Transaction]":
        """Collect changes; the end of the block makes one commit, an error in the block changes nothing.

        `confirmed`: a person has agreed to a mass change. `masked`: secrets in new notes and added text, of the program
        itself, are masked; otherwise a change that adds a secret is refused. `hold`: the notes are written, durably,
        and committed later: by the transaction that releases or changes them, `commit_held`, or the next write once
        this process has ended. Where the vault `waits`, so do its changes, but for moved and deleted notes, and what is
        looked up in the history: calls of tools, and a `body`. The end raises what `Writer.perform` raises, `LockHeld`.
        """
        begun = Transaction(system)
        yield begun
        known, token = self.known if masked else None, self.clock.new_id()
        stamp = replace(stamp, untrusted=self.provenance.foreign.claim_of(stamp.run)) if stamp.run else stamp
        waits = self.waits and not (hold or body or stamp.call or confirmed or stamp.actor == "human")
        subject = translated(subject, self.options.language) if isinstance(subject, Sentence) else subject
        order = begun.order(token, subject, stamp, body, confirmed=confirmed, hold=hold, waits=waits, masked=known)
        begun.outcome = self.carry_out(order) if order.requests or order.release else begun.outcome

    def carry_out(self, order: "Order") -> "Outcome":
        """Perform an order, or store it in the queue while the repository is not free; raises `SecretFound`."""
        order = masked_order(order, self.known)
        order = replace(order, requests=marked(order.requests, self.home, order.stamp))
        if order.stamp.actor != "human":
            refuse_private(order.requests, self.private_notes)
            refuse_secrets(order.requests, self.known, lambda path: self.read(path) is not None)
        writer = self.writer
        with in_plain_words(self.place), writer.exclusive():
            recover(writer)
            if reason := writer.waiting_reason():
                return writer.enqueue(order, reason)
            self._drain()
            return writer.perform(order)

    def commit_held(self, paths: Collection[str] | None = None) -> None:
        """Commit the held notes of these paths, or all (or let them wait, too)."""
        commit_held(self.writer, lambda note: paths is None or note.path in paths, keep=self.waits)

    def held(self, path: str) -> "HeldNote | None":
        """The note at this path, if it is held."""
        return self.writer.held.get(path)

    def held_of(self, session: str, *, work: bool = False) -> tuple[str, ...]:
        """The paths of the held notes that the runs of a session wrote, and those that they delegated to, but for what
        waits for the evening; `work`: only those that tools have changed."""
        held = [note for note in self.writer.held.all() if not note.waits]
        talks = {note.stamp.talk for note in held if session and note.stamp.session == session}
        return tuple(note.path for note in held if note.stamp.talk in talks and (note.work or not work))

    def settle(self) -> int:
        """Finish what a crash interrupted and carry out the queue; returns the number of orders carried out."""
        with in_plain_words(self.place), self.writer.exclusive():
            recover(self.writer)
            return 0 if self.writer.waiting_reason() else self._drain()

    def _drain(self) -> int:
        done = 0
        for order in self.writer.queue.waiting():
            try:
                outcome = self.writer.perform(order)
            except Retryable:
                break
            except AgentError as error:
                self.writer.queue.set_aside(order.token, error.message)
                continue
            if outcome.queued:
                break
            self.writer.queue.done(order.token)
            done += 1
        return done

    def take_in(
        self,
        commit: str,
        seen: str,
        subject: str,
        *,
        is_own: bool = False,
        stay: Collection[str] = (),
        progress: Callable[[int, int], object] = lambda done, of: None,
        first: Callable[[], object] = lambda: None,
    ) -> "Outcome":
        """Move the vault from HEAD's commit `seen` to a finished one (`write.take_in`); `first` is called locked."""
        with in_plain_words(self.place), self.writer.exclusive():
            recover(self.writer)
            first()
            return take_in(self.writer, commit, seen, subject, is_own=is_own, stay=stay, progress=progress)

    def commit_human(
        self, *, confirmed: bool = False, quiet: bool = False, drafts: bool = False, subject: str = ""
    ) -> "Outcome":
        """Commit the edits that people made by hand, in their name; see `human_commits.commit`."""
        with in_plain_words(self.place), self.writer.exclusive():
            recover(self.writer)
            if not self.writer.waiting_reason():
                self._drain()
            return commit(self.writer, confirmed=confirmed, quiet=quiet, drafts=drafts, subject=subject)

    @property
    def _public(self) -> PublicFiles:
        return PublicFiles(self.place, self.git, self.files, self.private_notes)

    def read(self, path: str) -> bytes | None:
        """A note's bytes, None if there is none; the bytes of this moment if another program keeps the note open."""
        return self._public.read(path)

    def read_now(self, path: str) -> bytes | None:
        """A note's bytes of this moment, even during a save; for callers that read again after each change."""
        return self._public.read_now(path)

    def glance(self, path: str) -> bytes:
        """A note's bytes of this moment, possibly during a save: many times quicker than `read`, to look for words.

        Raises `OSError` for a link and for a note that is not there.
        """
        return self._public.glance(path)

    def read_at(self, revision: str, path: str) -> bytes | None:
        """A note's bytes in a commit, None if it is not there; raises `UserError` for an unknown revision."""
        return self._public.read_at(revision, path)

    def read_blobs(self, ids: Sequence[str]) -> list[bytes | None]:
        """The contents of git blobs, read by one process; None for an id that is no blob here. The caller knows of
        which notes they are, and if those are private."""
        found = self.git.objects(ids) if ids else []
        return [each.data if each is not None and each.kind == "blob" else None for each in found]

    def content_id(self, data: bytes) -> str:
        """The blob id that this repository's git gives to a file's content."""
        return self.git.blob_id(data)

    def current_id(self, path: str) -> str:
        """The blob id of what a note holds now; empty if there is no note."""
        data = self.read(path)
        return "" if data is None else self.content_id(data)

    def own_versions(self) -> frozenset[tuple[str, str | None]]:
        """The contents that this program wrote (path, blob id), as far as the journal still has their records."""
        return self.writer.journal.written()

    def versions_of_others(self) -> "tuple[Versions, Versions]":
        """The contents that this program wrote as a remote, and as a person in a page (`Stamp.typed`), has them."""
        return self.writer.journal.taken_in(), self.writer.journal.typed()

    def is_own_version(self, path: str, blob: str | None) -> bool:
        """True if this program wrote this content (a blob id) of the note, and the journal still has the record."""
        return (path, blob) in self.own_versions()

    def stamp_of(self, path: str, blob: str) -> "Stamp | None":
        """Who wrote this content (a blob id) of a note, and with what; None if the journal has no record of it."""
        return self.writer.journal.stamp_of(path, blob)

    def changed_files(self, paths: Collection[str] = ()) -> "list[Dirty]":
        """The files of the vault, or of `paths` only, that differ from the last commit; without held notes."""
        held = self.held_unchanged()
        return [item for item in dirty(self.git, self.place, paths) if item.path not in held]

    def held_unchanged(self) -> frozenset[str]:
        """The paths of the held notes that nobody has changed since they were written."""
        return self.writer.held_unchanged() if any(self.layout.held.glob("*.json")) else frozenset()

    def check_ours(self, path: str) -> None:
        """Raise `BadPath` if the path is in another repository, or a sparse checkout excludes it."""
        check_ours(self.git, self.place, (path,))

    def drop_records(self, unwanted: Callable[[str], bool]) -> None:
        """Remove what the journal has of finished changes with an unwanted word in their subjects or paths."""
        with self.writer.exclusive():
            self.writer.journal.drop(unwanted)

    @property
    def queued(self) -> int:
        """The number of accepted changes that wait until the repository is free."""
        return self.writer.queue.count()

    def waiting_orders(self) -> "Iterator[Order]":
        """The accepted changes that wait until the repository is free, oldest first."""
        return self.writer.queue.waiting()

    def waiting_reason(self) -> str | None:
        """The reason why a change would have to wait now; None if it would not."""
        return self.writer.waiting_reason()

    def is_busy(self) -> bool:
        """True if a process of this program writes to the vault, or a git process works in its repository."""
        return holder(self.layout.lock) is not None or git_is_busy(self.place.gitdir, self.place.worktree)

    def note_paths(self, folder: str = "") -> list[str]:
        """All notes in a folder (empty: the vault), sorted; without what git ignores or a sparse checkout excludes, and
        without those that are private, or gone."""
        return self.private_notes.there_of(note_paths(self.git, self.place, folder))

    def own_version(self, path: str) -> bytes | None:
        """The note without the text that arrived from elsewhere and that the person has not looked at yet; None if no
        note remains."""
        return self.provenance.own_version(path, self.read(path))

    def own_version_of(self, name: str) -> bytes | None:
        """The `own_version` of the note that the table of folders calls `name`, such as `AGENT.md`."""
        return self.own_version(self.home.at(name))


def open_vault(root: Path, state: Path, clock: Clock, options: Options) -> Vault:
    """The vault at `root`, with its private files under `state`; raises `NotAVault`."""
    init = f"vault-agent init {shlex.quote(str(root))}"
    if not (root / MARKER).is_file():
        raise NotAVault("{root} is not a vault", hint=init, root=root)
    if (place := locate(root)) is None:
        raise NotAVault("{root} has no git repository any more", hint=init, root=root)
    with in_plain_words(place):
        return _settled(attach(place, state, clock, options), state, clock, options)


def _settled(vault: Vault, state: Path, clock: Clock, options: Options) -> Vault:
    """The vault with the agent's folders where they are, if the settings name another place."""
    root = vault.place.root
    home = settle_home(vault.layout, root, options) if (root / MARKER).is_file() else vault.home
    is_so = home.path == vault.home.path and home.days is None  # a comparison would have the library make its methods
    return vault if is_so else attach(vault.place, state, clock, replace(options, home=home))


def open_repository(root: Path, state: Path, clock: Clock, options: Options) -> Vault | None:
    """The vault at `root`, even if its marker is missing; None if the folder is in no repository."""
    place = locate(root)
    return _settled(attach(place, state, clock, options), state, clock, options) if place is not None else None


def attach(place: Place, state: Path, clock: Clock, options: Options) -> Vault:
    """A vault object for a checked place; `init` calls this before the marker exists."""
    git = Git(place.gitdir, place.worktree, durable=options.durable, timeout=options.timeout_seconds)
    files = Files(place.root, clock, options.durable)
    private = layout(place, state, clock)

    def writer() -> "Writer":
        return open_writer(place, private, git, files, clock, options, lambda: len(note_paths(git, place)))

    def record() -> "Provenance":
        made = lambda: one_writer().journal.commits()  # noqa: E731
        return provenance(place, git, private.folder, files.read, made, options, records)

    private_notes, one_writer = PrivateNotes(place.root, options.home.may_be_private), only_once(writer)
    records = only_once(lambda: Records(private.folder, durable=options.durable))
    return Vault(place, private, git, files, clock, options, private_notes, one_writer, only_once(record), records)
