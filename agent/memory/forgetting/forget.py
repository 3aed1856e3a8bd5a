"""Forgetting a note or a text, wherever the program has written it; leaves a tombstone.

All is one commit, so an undo restores everything and removes the tombstone; the commit message names only the count of
notes, which keeps the text out of the history's messages. Where the text stands is found by `places`.

A forgetting in a run is done once more when the run is over: its session's note gets further records, and its name may
have the words; the note of the day gets a line about it afterwards."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace

from agent import texts
from agent.config.directories import VAULT_FILE
from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.events.runs import TaskCompleted
from agent.markdown.note import Note
from agent.memory.entry import parse_entry
from agent.memory.forgetting.entry_text import entry_marks, persons_words
from agent.memory.forgetting.forgotten_statements import (
    ForgottenStatements,
    forgotten_statements,
    is_telling,
    own_names,
    phrase,
)
from agent.memory.forgetting.places import Forgetting, Report, find_places, stem_of
from agent.memory.forgetting.private_state import (
    drop_unfinished,
    follow_names,
    forget_in_decisions,
    forget_in_model_texts,
    forget_in_rows,
)
from agent.memory.forgetting.tombstones import compose_tombstone, fingerprint, load_tombstones, marks
from agent.memory.store import ARCHIVED
from agent.texts import Language, Sentence, joined
from agent.vault.change import FORGET, Outcome, Stamp, actor_of
from agent.vault.find import find_note
from agent.vault.folders import AGENT_NOTE, DAILY, ENTRIES, FORGOTTEN, MEMORY_NOTE, SESSIONS, AgentFolder
from agent.vault.former_names import keep_former_names
from agent.vault.store import Vault

_KINDS = (
    (ENTRIES, "1 memory", "{count} memories"),
    (ARCHIVED, "1 archived memory", "{count} archived memories"),
    (SESSIONS, "1 session", "{count} sessions"),
    (DAILY, "1 daily note", "{count} daily notes"),
    (MEMORY_NOTE, "1 {note}", "{count} {note}"),
    ("", "1 note", "{count} notes"),
)
"""The kinds of notes by their folders, with what one and several of them are called."""
BY_HAND = Stamp("human")
_CLOSED = (AGENT_NOTE, MEMORY_NOTE)


def ignore(done: int, total: int) -> None:
    """Report no progress."""


def plan(vault: Vault, path: str, language: Language = "en", report: Report = ignore) -> Forgetting:
    """The plan for forgetting the note at `path`; writes nothing. Raises `NoteGone` or `UserError`."""
    data = vault.read(path)
    if data is None:
        raise NoteGone("{path} is not there", hint="vault-agent log shows what was moved or deleted", path=path)
    found = plan_for(vault, path, data, language, report)
    return replace(found, gone=((path, data), *found.gone))


def find_to_forget(vault: Vault, name: str) -> str:
    """As `find_note`, also by the name of a memory, as in a link to it. Any other note's name is taken for a text: the
    person who wants to forget a word does not mean their own note about it."""
    try:
        return find_note(vault, name)
    except NoteGone:
        wanted = name.strip().removeprefix("[[").removesuffix("]]")
        entries = (path for path in vault.note_paths() if vault.home.holds(path, ENTRIES, ARCHIVED))
        found = next((path for path in entries if stem_of(path) == wanted), "")
        if not found:
            raise
        return found


def plan_named(vault: Vault, name: str, language: Language = "en", report: Report = ignore) -> Forgetting:
    """The plan for forgetting the note that `find_to_forget` finds, else this text; raises as `plan` and `plan_text`
    do."""
    try:
        path = find_to_forget(vault, name)
    except NoteGone as nowhere:
        if "/" in name or name.endswith(".md"):
            raise
        try:
            return plan_text(vault, name, language, report)
        except NoteGone as unsaid:
            raise NoteGone("{notes}, and {history}", hint=nowhere.hint, notes=nowhere, history=unsaid) from None
    return plan(vault, path, language, report)


def plan_for(vault: Vault, path: str, data: bytes, language: Language, report: Report) -> Forgetting:
    """The plan for the other notes when a note with these bytes is forgotten, or was before. Raises `UserError`."""
    name = vault.home.name_of(path)
    if path == VAULT_FILE or name in _CLOSED or name.startswith(FORGOTTEN):
        raise UserError(
            "{path} is needed to remember at all", hint="edit it, and delete the lines that should go", path=path
        )
    entry = parse_entry(data)
    text = Note.parse(data).body if entry is None else persons_words(entry)
    prints = frozenset(filter(None, (fingerprint(text),))) if entry is None else entry_marks(entry)
    names = () if entry else filter(is_telling, (stem_of(path),))
    forgotten = forgotten_statements((*names, text), prints, _mark(language))
    found = find_places(vault, forgotten, {path: data}, report)
    return replace(found, gone=found.gone[1:])


def plan_text(vault: Vault, text: str, language: Language = "en", report: Report = ignore) -> Forgetting:
    """The plan for forgetting a text, wherever it stands; raises `NoteGone` if the program has written it nowhere."""
    found = find_places(vault, phrase(text, _mark(language)), {}, report)
    if found.gone or found.changed:
        return replace(found, forgotten=replace(found.forgotten, marks=found.marks | _marks_of_lost(found, vault.home)))
    if found.mentions:
        raise NoteGone(
            "only notes that forget leaves alone say it: {mentions}",
            hint="to take it out, edit it there",
            mentions=joined(found.mentions, ", "),
        )
    raise NoteGone("no note of the agent's says it", hint="vault-agent search WORDS finds what is there")


def _marks_of_lost(found: Forgetting, home: AgentFolder) -> frozenset[str]:
    """The fingerprints of the entries that go, and of what other entries lose."""
    lost = [marks(row) for each in found.changed if home.holds(each.path, ENTRIES, ARCHIVED) for row in each.gone]
    entries = [entry_marks(entry) for _, data in found.gone if (entry := parse_entry(data)) is not None]
    return frozenset[str]().union(*lost, *entries)


def carry_out(
    vault: Vault, forgetting: Forgetting, language: Language, *, confirmed: bool = False, stamp: Stamp = BY_HAND
) -> Outcome:
    """Forget, in one commit with this stamp; no commit if only the history still has it. Raises what a transaction
    raises."""
    changed = [each for each in forgetting.changed if each.before != each.after or each.to]
    if not (forgetting.gone or changed) and forgetting.marks <= load_tombstones(vault).marks:
        return Outcome()
    now = vault.clock.now()
    path, stone = compose_tombstone(forgetting.marks, vault.clock.new_id(), now, language)
    with vault.transaction(
        _subject(forgetting, vault.home), replace(stamp, tool=FORGET), confirmed=confirmed
    ) as transaction:
        for gone, data in forgetting.gone:
            transaction.delete(gone, data)
        for each in changed:
            if each.to:
                transaction.delete(each.path, each.before)
                transaction.create(each.to, each.after)
            else:
                transaction.edit(each.path, each.before, each.after)
        if forgetting.marks:
            transaction.create(vault.home.at(path), stone)
    if transaction.outcome.commit:
        drop_unfinished(vault.private_folder)
        follow_names(vault.private_folder, own_names(forgetting.forgotten.names))
        forget_in_rows(vault.records, replace(forgetting.forgotten, names=own_names(forgetting.forgotten.names)))
        forget_in_decisions(vault, forgetting.forgotten)
        forget_in_model_texts(vault, forgetting.forgotten)
        keep_former_names(vault, {each.path: Note.parse(each.after).id or "" for each in changed if each.to})
    return transaction.outcome


def _mark(language: Language) -> str:
    return texts.text("forgetting.mark", language)


def _subject(forgetting: Forgetting, home: AgentFolder) -> str:
    """The kinds and numbers of what is forgotten: a name would keep the words in the history."""
    gone = _counted([*(path for path, _ in forgetting.gone), *forgetting.past], home)
    changed = _counted([each.path for each in forgetting.changed], home)
    lines = Sentence("lines of {notes}", notes=changed)
    if gone and changed:
        return Sentence("memory(forget): {gone} and {lines}", gone=gone, lines=lines)
    return Sentence("memory(forget): {gone}", gone=lines if changed else gone)


def _counted(paths: Sequence[str], home: AgentFolder) -> Sentence:
    """The number of notes of each kind."""
    names = map(home.name_of, paths)
    counts = Counter(next(kind for kind in _KINDS if name.startswith(kind[0])) for name in names)
    counted = [
        Sentence(one if count == 1 else more, count=count, note=MEMORY_NOTE) for (_, one, more), count in counts.items()
    ]
    return joined(counted, ", ")


@dataclass(slots=True)
class ForgettingsOfRuns:
    """The forgettings in the runs of this process that are not over."""

    vault: Vault
    language: Language
    _forgotten: dict[str, list[ForgottenStatements]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def add(self, run: str, forgotten: ForgottenStatements) -> None:
        """Note that this was forgotten in a run, or in one that it has delegated to."""
        with self._lock:
            self._forgotten.setdefault(run.partition(".")[0], []).append(forgotten)

    def settle(self, event: TaskCompleted) -> None:
        """Take what was forgotten in a run out of what was written since."""
        with self._lock:
            found_in_run = self._forgotten.pop(event.run, [])
        for forgotten in found_in_run:
            found = find_places(self.vault, forgotten, {}, ignore)
            left = replace(found, forgotten=replace(found.forgotten, marks=frozenset()))  # its tombstone is there
            stamp = Stamp(actor_of(event.job, event.speaker.channel), run=event.run, session=event.session)
            if left.gone or left.changed:
                carry_out(self.vault, left, self.language, stamp=stamp)
