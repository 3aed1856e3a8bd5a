"""Forgetting a note in the history too: two steps, with a record on disk so that a crash between them can be repaired.

The next command finishes the work (`open_workspace` calls `finish`). The record holds a path and no text: the commit
that forgot the note lists the rest, so finishing equals forgetting a note that only the history still has.
"""

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from agent.config import durable
from agent.config.durable import process_lock
from agent.dataclass import dataclass
from agent.errors import AgentError, GitFailed, LockHeld, NoteGone, Permanent, Retryable, UserError
from agent.index.files import IndexFiles
from agent.json_value import parse_json
from agent.memory.forgetting import forget
from agent.memory.forgetting.forget_past import forgotten_since, is_in_history, plan_of, plan_past
from agent.memory.forgetting.forgotten_statements import ForgottenStatements, phrase
from agent.memory.forgetting.in_history import cleaning_of
from agent.memory.forgetting.places import Forgetting, Report, stem_of, text_of
from agent.memory.forgetting.private_state import (
    drop_unfinished,
    follow_names,
    forget_in_decisions,
    forget_in_model_texts,
    forget_in_rows,
    forget_notices,
    forget_typed,
)
from agent.memory.forgetting.sweep import LastLook, as_quoted, is_in_state, last_look, unreferenced_with
from agent.texts import Language, Sentence
from agent.vault.change import Outcome
from agent.vault.history import purge as history
from agent.vault.history.deletion import check_exclusive, delete_purged, was_purged
from agent.vault.history.purged import Purged, record_purged
from agent.vault.history.versions import paths_with
from agent.vault.layout import CHAT_HISTORY, FORGETTING, OUTLINES
from agent.vault.store import Vault

_PATIENCE = 10.0
"""Seconds that the index may be written to by another process before it is only marked."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Begun:
    """A forgetting in progress.

    `head` is the last commit before it; `path` is empty if a text is forgotten, and `blob` the id of the note's
    content, empty if only the history had it. `remote`, `confirmed` and `for_good` are what the person approved;
    `token` names the backup of the old commits, and is empty if only earlier purges are to be made final.
    """

    token: str
    head: str
    path: str
    blob: str
    remote: bool
    confirmed: bool
    for_good: bool = False


@dataclass(frozen=True, slots=True)
class Purge:
    """A rewrite of the history, planned or done.

    `commits` counts the rewritten commits, `head` is the new tip of the branch, `backup` the ref of the old commits,
    `other_refs` the other refs that still have them. `mentions` are the person's notes that say the text, `remaining`
    all other places where it was found at the end. `is_recoverable` is set if git still has what was purged, because it
    was not deleted for good yet. `said` recognises the text.
    """

    commits: int
    head: str
    backup: str
    other_refs: tuple[str, ...]
    mentions: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    is_recoverable: bool = False
    forgotten: ForgottenStatements | None = None

    @property
    def still_holding(self) -> tuple[str, ...]:
        """Everything that still holds the text although it was to go; empty if the purge is complete."""
        refs = (name for name in self.other_refs if not history.is_backup(name))
        return tuple(dict.fromkeys((*refs, *self.remaining, *self.mentions)))


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets notes of one vault, also in its history. `cache` is the folder of data that can be computed again."""

    vault: Vault
    language: Language
    cache: Path

    @property
    def _note(self) -> Path:
        return self.vault.private_folder / FORGETTING

    def plan(self, name: str, report: Report = forget.ignore) -> tuple[str, Forgetting]:
        """The path for a path or id, and the plan for forgetting it; a text has no path.

        It may be only in the history. Raises `NoteGone` if not even the backups of earlier purges have it.
        """
        history.check_possible(self.vault)
        self.vault.commit_held()  # otherwise it would be committed after the history was looked through
        try:
            path = forget.find_to_forget(self.vault, name)
        except NoteGone:
            path = next((path for path in (name, f"{name}.md") if self._was_there(path)), "")
            if not path:
                return "", self._plan_text(name, report)
            self.vault.check_ours(path)
            if not is_in_history(self.vault, path):
                return path, Forgetting(past=(path,))
            return path, plan_past(self.vault, path, self.language, report)
        return path, forget.plan(self.vault, path, self.language, report)

    def _plan_text(self, text: str, report: Report) -> Forgetting:
        """The plan for forgetting a text, which may be only in the history, in its backups, or in git's leftovers."""
        try:
            return forget.plan_text(self.vault, text, self.language, report)
        except NoteGone:
            forgotten = phrase(text)
            if self._says("HEAD", forgotten):
                return Forgetting(forgotten=forgotten)
            if self._backup_with("", forgotten) or is_in_state(self.vault, forgotten):
                return Forgetting(forgotten=replace(forgotten, marks=frozenset()))  # its tombstone is there
            raise

    def _says(self, revision: str, forgotten: ForgottenStatements) -> bool:
        return bool(paths_with(self.vault, lambda path, data: forgotten.stands_in(text_of(data)), revision))

    def _was_there(self, path: str) -> bool:
        return any(is_in_history(self.vault, path, revision) for revision in ("HEAD", *history.backups(self.vault)))

    def preview(self, path: str, forgetting: Forgetting, *, remote: bool) -> Purge:
        """The result that a purge would have; raises what `history.purge` raises."""
        return self._purge(path, forgetting, "", remote=remote, dry_run=True)

    def carry_out(
        self, path: str, forgetting: Forgetting, *, remote: bool, confirmed: bool = False, for_good: bool = False
    ) -> tuple[Outcome, Purge]:
        """Forget the note, then rewrite the history; `for_good` also deletes what it was. After a crash in between, the
        next start continues.

        Raises what a transaction, `history.purge` and `delete_purged` raise; `Retryable` if the first step has to wait.
        """
        if for_good:
            check_exclusive(self.vault)
        with self._held():
            now = self.vault.read(path) if path else None
            blob = "" if now is None else self.vault.content_id(now)
            begun = Begun(self.vault.clock.new_id(), self.vault.head or "", path, blob, remote, confirmed, for_good)
            self._begin(begun)
            with self._noted_until_known():
                outcome = forget.carry_out(self.vault, forgetting, self.language, confirmed=confirmed)
                if outcome.queued:
                    raise Retryable(
                        "it is forgotten later, because {queued}",
                        hint="the first vault-agent command after that writes the history anew",
                        queued=outcome.queued,
                    )
                done = self._purge(path, forgetting, begun.token, remote=remote)
                done = self._delete(done) if for_good else done
            self._end()
            return outcome, done

    def recoverable(self) -> tuple[str, ...]:
        """The references from which what was purged can be brought back, newest first."""
        return tuple(name for name in history.backups(self.vault) if name.startswith(history.BACKUP))

    def delete_for_good(self, done: Purge | None = None) -> Purge:
        """Delete what this purge, or if there is none all earlier ones, have taken out of the history.

        After a crash the next start continues. Raises what `delete_purged` raises; `UserError` if nothing was purged.
        """
        check_exclusive(self.vault)
        if done is None and not was_purged(self.vault):
            raise UserError(
                "nothing was purged in this vault", hint="vault-agent forget PATH|ID|TEXT --purge --for-good"
            )
        with self._held():
            begun = Begun("", self.vault.head or "", "", "", remote=False, confirmed=True, for_good=True)
            self._begin(begun)
            with self._noted_until_known():
                done = self._delete(done or _nothing_more(self.vault))
            self._end()
            return done

    def _delete(self, done: Purge) -> Purge:
        """The purge once what it has taken out is deleted for good, with all that still holds it."""
        forgotten = as_quoted(done.forgotten) if done.forgotten is not None else None
        found = delete_purged(self.vault, lambda data: forgotten is not None and forgotten.is_quoted(text_of(data)))
        self._clear_cache()
        look = (
            last_look(self.vault, done.forgotten, self.cache, self._note) if done.forgotten is not None else LastLook()
        )
        leftover = (Sentence("objects of git to which nothing leads"),) if look.is_unreferenced else ()
        named = tuple(dict.fromkeys((*found.remaining, *look.remaining, *leftover)))
        others = tuple(name for name in done.other_refs if name not in found.references)
        return replace(
            done, backup="", other_refs=others, mentions=look.mentions, remaining=named, is_recoverable=False
        )

    def finish(self) -> None:
        """Finish an interrupted forgetting; do nothing while another process does it. Errors are logged."""
        begun: Begun | None = None
        try:
            with self._held():
                begun = self._load()
                if begun is None or self.vault.waiting_reason():
                    return
                with self._noted_until_known():
                    self._go_on(begun)
                self._end()
        except (AgentError, OSError) as error:
            if isinstance(error, LockHeld) and begun is None:
                return
            path = begun.path if begun is not None else ""
            name = f" {path or 'TEXT'}" if begun is None or begun.token else ""
            again = f"vault-agent forget{name} --purge{' --for-good' if begun and begun.for_good else ''}"
            logger.warning("forgetting %s was cut short, and not finished: %s; do it by: %s", path, error, again)

    def _go_on(self, begun: Begun) -> None:
        done = self._purge_again(begun) if begun.token else _nothing_more(self.vault)
        done = self._delete(done) if begun.for_good else done
        if done.still_holding:
            left = ", ".join(done.still_holding)
            logger.warning("forgetting %s was cut short, and is finished now; still holding it: %s", begun.path, left)

    def _purge_again(self, begun: Begun) -> Purge:
        self.vault.settle()
        if self.vault.queued:
            raise Retryable("the change that forgets it still waits")
        now = self.vault.read(begun.path) if begun.path else None
        if now is not None and self.vault.content_id(now) == begun.blob:
            found = forget.plan(self.vault, begun.path, self.language)
            forget.carry_out(self.vault, found, self.language, confirmed=begun.confirmed)
        if begun.path and is_in_history(self.vault, begun.path):
            found = plan_past(self.vault, begun.path, self.language)
        elif (commit := forgotten_since(self.vault, begun.head)) is not None:
            found = plan_of(self.vault, commit, self.language)
        else:
            self._clear_cache()
            return _nothing_more(self.vault)
        return self._purge(begun.path, found, begun.token, remote=begun.remote)

    def _purge(self, path: str, forgetting: Forgetting, token: str, *, remote: bool, dry_run: bool = False) -> Purge:
        cleaning, forgotten = cleaning_of(self.vault, forgetting)
        if not dry_run:  # first: once the branch has moved, nothing says by which words a crash is to be finished
            self._clear(forgotten)
            record_purged(self.vault, Purged(objects=frozenset(unreferenced_with(self.vault, forgotten))))
        done = history.purge(self.vault, cleaning, token=token, remote=remote, dry_run=dry_run)
        look = LastLook(forgetting.mentions)
        if not dry_run:
            self._clear(forgotten)
            look = last_look(self.vault, forgotten, self.cache, self._note)
        backup = done.backup or ("" if done.commits else self._backup_with(path, forgetting.forgotten))
        others = tuple(name for name in (*done.other_refs, *done.remote_refs) if name != backup)
        is_recoverable = bool(backup) or look.is_unreferenced
        return Purge(done.commits, done.head, backup, others, look.mentions, look.remaining, is_recoverable, forgotten)

    def _backup_with(self, path: str, forgotten: ForgottenStatements) -> str:
        """The newest backup that still has the note, or says the text if there is no path; empty if none has."""
        has = (name for name in history.backups(self.vault)
               if (is_in_history(self.vault, path, name) if path else self._says(name, forgotten)))  # fmt: skip
        return next(has, "")

    def _clear(self, forgotten: ForgottenStatements) -> None:
        """Remove what says the text from the journal and the state, and the indexes, which keep deleted words."""
        quoted = as_quoted(forgotten)
        forget_typed(self.vault.private_folder / CHAT_HISTORY, forgotten)
        forget_notices(self.vault.records, forgotten)
        drop_unfinished(self.vault.private_folder)
        (self.vault.private_folder / OUTLINES).unlink(missing_ok=True)
        follow_names(self.vault.private_folder, quoted.names)
        forget_in_rows(self.vault.records, quoted)
        forget_in_decisions(self.vault, quoted)
        forget_in_model_texts(self.vault, quoted)
        self.vault.drop_records(
            lambda word: quoted.concerns(word) or forgotten.is_name(stem_of(word)) or stem_of(word) in forgotten.names
        )
        self._clear_cache()

    def _clear_cache(self) -> None:
        """Delete the indexes; the next search builds them again."""
        shutil.rmtree(self.cache / "past", ignore_errors=True)
        index = IndexFiles(self.cache / "index")
        if not index.folder.is_dir():
            return
        try:
            with index.writing(self.vault.clock, _PATIENCE):
                index.clear()
        except LockHeld:
            index.ask_for_rebuild("something was forgotten")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the lock for forgetting in this vault; raises `LockHeld`."""
        lock = self._note.with_suffix(".lock")
        with process_lock(lock, self.vault.clock, 0.0, "another vault-agent is forgetting"):
            yield

    @contextmanager
    def _noted_until_known(self) -> Iterator[None]:
        """Delete the record when the work cannot be done; keep it after a temporary error."""
        try:
            yield
        except GitFailed:
            raise
        except (UserError, Permanent):
            self._end()
            raise

    def _begin(self, begun: Begun) -> None:
        durable.replace(self._note, json.dumps(asdict(begun)))

    def _load(self) -> Begun | None:
        try:
            document = parse_json(self._note.read_bytes())
            token, head, path, blob = (str(document[key]) for key in ("token", "head", "path", "blob"))
            approved = (bool(document["remote"]), bool(document["confirmed"]), document.get("for_good") is True)
            return Begun(token, head, path, blob, *approved)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            self._end()
            raise Permanent("what was noted of it cannot be read") from error

    def _end(self) -> None:
        self._note.unlink(missing_ok=True)
        durable.flush_folder(self._note.parent)


def _nothing_more(vault: Vault) -> Purge:
    """A purge for which there is nothing left to do."""
    return Purge(0, vault.head or "", "", ())
