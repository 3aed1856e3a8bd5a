"""Reads what the block about the owner says from the notes of a vault; what others wrote there is left out."""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path, PurePosixPath

from agent.asking.questions.law import ASKS
from agent.asking.questions.notes import AskedQuestion
from agent.attention.quiet import parse_quiet
from agent.context.budget import Count
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.escape import escape_line
from agent.markdown.note import Note
from agent.markdown.title import clipped
from agent.memory.entry import MODEL, Scope, with_offset
from agent.memory.forgetting.tombstones import load_tombstones
from agent.memory.memory_note import LongTermFact, parse_facts
from agent.memory.profile.changes import Proposed, Writing, propose_changes
from agent.memory.profile.load import load_profile, profile_with_forms
from agent.memory.profile.owner import NAMES, VaultPlace, owner_block, owner_facts
from agent.memory.profile.statements import changes_of_entries, outdated_lines, settle_profile_questions
from agent.memory.store import StoredEntry, entry_paths_on, load_entries
from agent.memory.understanding.seam import WISH, FactKind
from agent.runs.recall_source import RecallSource
from agent.texts import Sentence
from agent.tools.text_origin import TextOrigin, text_origin_of
from agent.vault.change import Create, Stamp
from agent.vault.folders import ENTRIES, MEMORY_NOTE, OWN_NOTES
from agent.vault.message import one_line
from agent.vault.store import Vault
from agent.workspace.workspace import Workspace

_DAYS = 30
"""How far back it looks for what was said."""
_MOST = 60
"""The most changes at once, so that one commit can be read."""

logger = logging.getLogger(__name__)


def is_stated_by_owner(each: StoredEntry, foreign: TextOrigin) -> bool:
    """True for what the person stated: not what a model concluded, what a guest said, what was replaced since, or
    words of others, whether they arrived or were read by the run that wrote them."""
    entry = each.entry
    strange = each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by
    is_own = entry.type.is_stated and not strange and entry.source != MODEL
    return is_own and not foreign.source(each.path, each.data)


def profile_writing(workspace: Workspace) -> Writing:
    """Where and for whom the program writes into the profile by itself."""
    vault, settings = workspace.vault, workspace.settings
    is_forgotten = load_tombstones(vault).is_forgotten
    return Writing(vault, settings.vault.language, workspace.clock.now(), is_forgotten, settings.profile.sensitive)


def is_quiet_now(workspace: Workspace) -> bool:
    """True in the person's quiet hours."""
    quiet = parse_quiet(workspace.settings.attention.quiet)
    return quiet.holds(quiet.on_the_wall(workspace.clock.now()))


def fill_profile(workspace: Workspace) -> Proposed:
    """Write what was stated lately into the profile, in one commit; nothing if there is nothing new, or if that has to
    wait."""
    vault = workspace.vault
    now = workspace.clock.now()
    try:
        writing = profile_writing(workspace)
        profile = profile_with_forms(vault, writing.language)
        days = (now.date() - timedelta(days=back) for back in range(_DAYS))
        paths = (path for day in days for path in entry_paths_on(vault, day))
        foreign, found = text_origin_of(vault), load_entries(vault, paths)
        stated = tuple(each for each in found if is_stated_by_owner(each, foreign))
        old = tuple(outdated_lines(vault, profile, found))
        changes = changes_of_entries(stated, profile)
        settled = settle_profile_questions(writing)
        proposed = settled if settled.requests else propose_changes(writing, [*changes[-_MOST:], *old])
        if proposed.requests:
            subject = _subject(proposed)
            body = subject.removeprefix(ASKS) if subject.startswith(ASKS) else ""  # what was ever asked is looked up
            with vault.transaction(subject, Stamp("agent", tool="profile"), body=body, masked=True) as made:
                made.requests.extend(proposed.requests)
    except AgentError as error:
        logger.warning("the profile has to wait: %s", error.message)
        return Proposed()
    return proposed


def _subject(proposed: Proposed) -> str:
    """The subject of a commit; one that only asks begins as all do that ask."""
    asked = [each for each in proposed.requests if isinstance(each, Create) and each.path in proposed.asked]
    if len(asked) < len(proposed.requests):
        return Sentence("memory(profile): what was said")
    return ASKS + one_line("; ".join(AskedQuestion(each.path, Note.parse(each.data)).title for each in asked))


_PLACES = 14
"""The most folders of the map."""
_MANY = 2_000
"""The notes of a folder above which the newest are not looked for by their times."""
_LOOKED_AT = 30
"""The notes or folders of a folder that are looked at for a few names."""
_LONGEST = 48
_TOP = "(top)"
_WELCOME = frozenset(("Welcome.md", "欢迎.md"))
"""Notes of the program at the top of a new vault."""
_KINDS = (WISH, FactKind.PREFERENCE, FactKind.WORKFLOW, FactKind.SELF, FactKind.PERSON, FactKind.OTHER)
_BEGIN = 8
"""The first lines of a note that tell whether it is the person's."""
_NEWEST = 60
"""The most entries of each kind."""


@dataclass(frozen=True, slots=True)
class OwnerBlock:
    """The block of one vault; `stated` returns the entries with what the owner stated, newest first."""

    vault: Vault
    origin: TextOrigin
    stated: Callable[[], Sequence[StoredEntry]]
    count: Count
    has_map: bool = True

    def text(self, room: int) -> str:
        """The block in at most `room` tokens."""
        files = [each for each in load_profile(self.vault) if each.filled and self._is_own(each.path)]
        entries = [each for each in self.stated() if is_stated_by_owner(each, self.origin)]
        facts = owner_facts(files, self._remembered(), entries)
        places = vault_places(self.vault, self._begins_as_own) if self.has_map else ()
        return self.vault.masked(owner_block(facts, places, room, self.count))

    def _remembered(self) -> tuple[LongTermFact, ...]:
        path = self.vault.home.at(MEMORY_NOTE)
        data = self.vault.own_version(path)
        return parse_facts(data.decode("utf-8", "replace")) if data and self._is_own(path) else ()

    def _is_own(self, path: str) -> bool:
        data = self.vault.read(path)
        return data is not None and not self.origin.source(path, data)

    def _begins_as_own(self, path: str) -> bool:
        """True unless the name of a note or its first lines are a stranger's: one line further down that a run wrote
        which had read something takes no note of the person's off the map."""
        data = self.vault.read(path)
        return data is not None and not self.origin.source(path, data, (1, _BEGIN))


def notes_about_owner(vault: Vault, count: Count) -> Callable[[int], str]:
    """The text of the notes about the owner, in so many tokens; without single entries, and without the map."""
    return lambda room: OwnerBlock(vault, text_origin_of(vault), tuple, count, has_map=False).text(room)


def vault_places(vault: Vault, is_own: Callable[[str], bool]) -> tuple[VaultPlace, ...]:
    """The folders at the top of the vault that are the person's, the largest first, each with its largest subfolders
    or its newest notes. A folder in which none of the notes looked at `is_own` is left out: its names are strangers'
    text."""
    inside = defaultdict[str, list[PurePosixPath]](list)
    for path in vault.note_paths():
        if vault.home.row(path) is OWN_NOTES and vault.home.name_of(path) not in _WELCOME:
            parts = PurePosixPath(path)
            inside[f"{parts.parts[0]}/" if len(parts.parts) > 1 else _TOP].append(parts)
    ranked = sorted(inside.items(), key=lambda item: (-len(item[1]), item[0]))[:_PLACES]
    found = (VaultPlace(_inert_name(name), len(paths), _names(vault, paths, is_own)) for name, paths in ranked)
    return tuple(each for each in found if each.names)


def _names(vault: Vault, paths: Sequence[PurePosixPath], is_own: Callable[[str], bool]) -> tuple[str, ...]:
    """The names of the largest folders in a folder, or of its newest notes, that are the person's."""
    below = defaultdict[str, list[PurePosixPath]](list)
    for path in paths:
        if len(path.parts) > 2:
            below[f"{path.parts[1]}/"].append(path)
    if sum(map(len, below.values())) * 2 > len(paths):
        folders = sorted(below, key=lambda name: (-len(below[name]), name))
        offered = ((_inert_name(name), min(below[name])) for name in folders)
    else:
        notes = sorted((path for path in paths if len(path.parts) <= 2), reverse=True)
        if len(notes) <= _MANY:
            notes.sort(key=lambda path: -_saved(vault, path))
        offered = ((_inert_name(path.stem), path) for path in notes)
    looked_at = islice(offered, _LOOKED_AT)
    return tuple(islice((name for name, path in looked_at if is_own(str(path))), NAMES))


def _inert_name(name: str) -> str:
    """A name as one short line without characters that act or hide."""
    return clipped(escape_line(name.encode("utf-8", "replace").decode()), _LONGEST)


def _saved(vault: Vault, path: PurePosixPath) -> float:
    try:
        return Path(vault.place.root, path).stat().st_mtime // 3_600
    except (OSError, AgentError):
        return 0.0


def stated_entries(searches: RecallSource) -> tuple[StoredEntry, ...]:
    """The newest entries that say who somebody is or how they want things, with what was said in conversations that
    wait to be read."""
    recaller = searches.recaller
    among = f'path:"{searches.workspace.vault.home.at(ENTRIES)}" scope:{Scope.USER}'
    hits = (hit for kind in _KINDS for hit in recaller.find(f"{among} kind:{kind}", _NEWEST).hits)
    waiting = {each.path: each for each in searches.waiting.entries()}
    paths = dict.fromkeys(hit.path for hit in hits if hit.path not in waiting)
    found = [*waiting.values(), *load_entries(searches.workspace.vault, paths)]
    return tuple(sorted(found, key=lambda each: (with_offset(each.entry.last_stated), each.entry.id), reverse=True))
