"""The agent's folders and notes in a vault: their contents, and the rules for reading, writing and recall.

This is the only table of folders. It has names, such as `entries/`; where they lie in a vault, at its root or below one
folder, says its `AgentFolder` (`Vault.home`), which also finds the row of a path. A row is found by name only. Names
are compared as the most tolerant file system would (case ignored, compatibility characters folded, invisible ones
removed), so that no spelling of `approvals/` avoids its rule. The target of links, and reserved names, are checked in
`vault.worktree`.
"""

import re
import unicodedata
from datetime import date
from enum import Enum, IntEnum

from agent.dataclass import dataclass
from agent.errors import BadPath, ConfigError
from agent.vault.day_notes import DayNotes, parsed_day
from agent.vault.worktree.paths import check

ENTRIES = "entries/"
DAILY = "daily/"
PROFILE = "profile/"
INBOX = "inbox/"
QUESTIONS = "questions/"
APPROVALS = "approvals/"
SESSIONS = "sessions/"
SKILLS = "skills/"
LEARNED = "skills/learned/"
SKILL_HISTORY = "skills/history/"
DEPRECATED = "skills/deprecated/"
MUTATIONS = "skills/mutations/"
PROMPTS = "prompts/"
LESSONS_NOTE = "lessons.md"
LESSONS = "lessons/"
LESSON_LOG = "lessons/log.md"
LESSON_HISTORY = "lessons/history/"
RULES = "rules/"
"""The rules of an earlier version, until they are lessons."""
JOBS = "jobs/"
JOB_HISTORY = "jobs/history/"
TASKS = "tasks/"
TASKS_DONE = "tasks/done/"
REFLECTIONS = "reflections/"
RESEARCH = "research/"
ARCHIVE = "archive/"
FORGOTTEN = "archive/forgotten/"
MACHINES = "machines/"
AGENT_NOTE = "AGENT.md"
MEMORY_NOTE = "MEMORY.md"


class WriteRule(IntEnum):
    """The rule for a tool that changes a note; a higher value is stricter. People may always edit everything."""

    FREE = 0
    MEMORY = 1
    """The text returns in later runs without being asked for: a run that has read untrusted text needs a yes."""
    AFTER_YES = 2
    """The note controls the agent, or is a request to it: every call needs a yes."""
    PROGRAM = 3
    """Only the person and the program itself write here, never a tool."""


class Reader(Enum):
    """The readers who may be shown a note. A reader's model sees the same notes as the reader."""

    OWNER = "owner"
    GUEST = "guest"
    """Guests too, if the policy gives them a tool that reads."""


class Recalled(Enum):
    """The form in which passages are given to a model that did not ask for them."""

    NO = "no"
    AS_NOTE = "as_note"
    """As passages of notes."""
    AS_MEMORY = "as_memory"
    """As memories, which hold or are over."""


@dataclass(frozen=True, slots=True)
class Folder:
    """One row: a folder with everything in it, or a note at the root.

    `searched`: `search_vault` finds it. `asks`: text that a person writes there may be a request to the agent.
    `steers`: it is in the context of every run, or starts runs, so text that arrives there from where others write is
    ignored until the person has looked at it, and a job always (skills are reviewed one by one, and do not count here).
    `logs`: many runs add
    lines to one note, so that undoing the run that began it takes out the lines of that run only. `undone`: what is
    written here goes when its run is undone; False for the record of what happened.
    """

    path: str
    holds: str
    write: WriteRule
    recalled: Recalled = Recalled.NO
    read: Reader = Reader.OWNER
    searched: bool = True
    asks: bool = False
    steers: bool = False
    logs: bool = False
    undone: bool = True

    @property
    def is_written_for_the_person(self) -> bool:
        """True if runs write their results here, not their records or their memory."""
        return self.write in {WriteRule.FREE, WriteRule.AFTER_YES}


_FREE, _MEMORY, _AFTER_YES, _PROGRAM = WriteRule
OWN_NOTES = Folder("", "the person's own notes, anywhere else", _FREE, Recalled.AS_NOTE, read=Reader.GUEST, asks=True)
FOLDERS = (
    Folder(AGENT_NOTE, "the person's standing instructions", _AFTER_YES, steers=True),
    Folder(MEMORY_NOTE, "long-term facts", _MEMORY, Recalled.AS_MEMORY, steers=True),
    Folder(ENTRIES, "single memories", _MEMORY, Recalled.AS_MEMORY),
    Folder(DAILY, "the log and the summary of each day", _MEMORY, Recalled.AS_MEMORY, asks=True, logs=True),
    Folder(PROFILE, "what the agent believes about the person", _MEMORY, Recalled.AS_MEMORY),
    Folder(INBOX, "requests; a note here starts a run", _AFTER_YES, Recalled.AS_NOTE, asks=True),
    Folder(QUESTIONS, "what the agent asks; a tool must not answer it", _PROGRAM, Recalled.AS_NOTE),
    Folder(APPROVALS, "what waits for a yes; a tool must not give it", _PROGRAM),
    Folder(SESSIONS, "what was said in each run; it is not rewritten", _PROGRAM, Recalled.AS_NOTE, undone=False),
    Folder(SKILLS, "the person's skills", _AFTER_YES),
    Folder(LEARNED, "skills that the agent has learned", _AFTER_YES),
    Folder(SKILL_HISTORY, "the uses of each skill", _PROGRAM, logs=True),
    Folder(DEPRECATED, "skills that were set aside", _PROGRAM),
    Folder(MUTATIONS, "variants of skills on trial", _PROGRAM),
    Folder(PROMPTS, "the person's own prompts", _AFTER_YES, steers=True),
    Folder(LESSONS_NOTE, "what the agent has learned, one row each", _AFTER_YES, steers=True, logs=True),
    Folder(LESSONS, "what belongs to lessons, of which none steers", _PROGRAM),
    Folder(LESSON_LOG, "what became of each lesson and of each variant, and why", _PROGRAM, logs=True, undone=False),
    Folder(LESSON_HISTORY, "the runs that were given lessons", _PROGRAM, searched=False, logs=True),
    Folder(RULES, "rules of an earlier version, which become lessons", _AFTER_YES, steers=True),
    Folder(JOBS, "when to wake, and what to do then", _AFTER_YES, steers=True),
    Folder(JOB_HISTORY, "the runs of each job", _PROGRAM, undone=False),
    Folder(TASKS, "work that the agent will do by itself", _AFTER_YES, steers=True, undone=False),
    Folder(TASKS_DONE, "tasks that are over", _PROGRAM, undone=False),
    Folder(REFLECTIONS, "what the agent thinks of its work, from which lessons come", _PROGRAM, logs=True),
    Folder(RESEARCH, "reports with sources", _PROGRAM, Recalled.AS_NOTE),
    Folder(MACHINES, "the machines that have the vault", _PROGRAM, searched=False),
    Folder(ARCHIVE, "what has expired or was replaced", _FREE, searched=False),
    Folder(FORGOTTEN, "marks of memories that must never be written again", _PROGRAM, searched=False),
)
_INSTRUCTIONS = frozenset({"agent", "agents", "claude", "gemini", "skill"})
"""Names of notes that this agent, or another agent in the same folder, reads as instructions, in any folder, also with
more behind a dot (`CLAUDE.local.md`). For runs that have read a stranger's text no list of names is enough:
`is_ordinary_note`."""
_OTHERS = frozenset(
    {
        *("qwen", "crush", "warp", "codex", "opencode", "amp", "goose", "copilot-instructions", "cursorrules"),
        *("windsurfrules", "clinerules", "conventions", "soul", "heartbeat"),
    }
)
"""Names that agents of other makers look for; a note of one's own may have one by chance."""
_VARIANTS = frozenset({"local", "override", "instructions", "prompt", "chatmode", "agent"})
"""The middle of such names: what stands before it is any word, as in `notes.instructions.md`."""
_CAPITALS = re.compile(r"[A-Z][A-Z_-]*[A-Z]")
_KIND = re.compile(r"\.(?![ 0-9]|$)")
"""A dot that begins a kind, such as `.local`: in a plain name a dot stands before a number, a blank or the end."""
_TEMPLATES = frozenset({"template", "templates", "_template", "_templates", "模板", "_模板"})
"""Names of folders in which editors such as Obsidian and its plugins keep templates."""
VIEW = ".base"
"""The ending of a table for Obsidian."""
_ROWS = {folder.path.rstrip("/").casefold(): folder for folder in FOLDERS}
_DEEPEST = 1 + max(path.count("/") for path in _ROWS)
_NO_LINK = frozenset('[]|#^"\\')
"""Characters that end a link or a filter of a search."""
_FOLDER_HINT = "name a folder inside the vault, such as Agent, without a dot before it and without [ ] | # ^ and quotes"
SESSION_LINK = rf"\[\[(?:[^\]|#\n]+/)?{SESSIONS}"
"""A pattern for the beginning of a link to a session, wherever the agent's folder is."""
_DAY = "YYYY-MM-DD[.md]"
_SHORT = re.compile(r"(.{2,6})~[0-9]{1,3}(\..*)?")
"""A short name (8.3) of old file systems, such as `APPROV~1`."""


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """The folder of a vault in which all of the table lies: `path` is empty (the root) or ends in a slash.

    Only the notes of days may lie elsewhere: where the person has daily notes of their own (`days`), these are meant by
    `daily/` and have the names of its notes.
    """

    path: str = ""
    days: DayNotes | None = None

    def at(self, name: str) -> str:
        """The path in the vault of what the table, or a module with notes of one kind, calls `name`."""
        return self.days.folder if name == DAILY and self.days is not None and self.days.folder else self.path + name

    def day_note(self, day: date) -> str:
        """The path of the note of a day."""
        return self.days.path_of(day) if self.days is not None else self.path + _day_name(day)

    def day_of(self, path: str) -> date | None:
        """The day of which the note at `path` is; None for any other path."""
        name = self.name_of(path)
        return parsed_day(name[len(DAILY) :], _DAY) if name.startswith(DAILY) else None

    def name_of(self, path: str) -> str:
        """The name of a path of the vault, as the table has it; empty for a path outside the agent's folder."""
        if self.days is not None and (day := self.days.day_of(path)):
            return _day_name(day)
        if path.startswith(self.path):
            return path[len(self.path) :]
        own, parts = self.path.split("/")[:-1], path.split("/")
        is_inside = len(parts) > len(own) and all(map(_is_same_name, parts, own))
        return "/".join(parts[len(own) :]) if is_inside else ""

    def holds(self, path: str, *names: str) -> bool:
        """True if the path is in one of these folders of the table, or is one of its notes."""
        return self.name_of(path).startswith(names)

    def row(self, path: str) -> Folder:
        """The row of the longest path in the table that contains `path`; `OWN_NOTES` if there is none."""
        row, reached = OWN_NOTES, ""
        for name in self.name_of(path).split("/")[:_DEEPEST]:
            reached = _full_name(f"{reached}/{folded(name)}".lstrip("/"))
            row = _ROWS.get(reached, row)
        return row

    def is_view(self, path: str) -> bool:
        """True for a table of the notes of one of these folders, as the template has it."""
        name = self.name_of(path)
        return name.endswith(VIEW) and name.removesuffix(VIEW).casefold() in _ROWS

    def write_rule(self, path: str) -> WriteRule:
        """The rule for a tool that changes the note at `path`."""
        if is_hidden(path):
            return WriteRule.PROGRAM
        return max(self.row(path).write, WriteRule.AFTER_YES if instructs(path) else WriteRule.FREE)

    def may_be_private(self, path: str) -> bool:
        """True for a note that the person may keep from the agent: one of their own, also where the agent writes, too,
        but none that the agent lives by."""
        row = self.row(path).path
        return row in {"", INBOX, ARCHIVE} or (row == DAILY and self.days is not None)

    def is_of_the_person(self, path: str) -> bool:
        """True for the path of a note that is the person's own and only read by people, and can be linked to."""
        try:
            check(path)
        except BadPath:
            return False
        return self.row(path) is OWN_NOTES and is_ordinary_note(path) and _NO_LINK.isdisjoint(path)

    def with_archived(self, path: str) -> tuple[str, ...]:
        """The path, and those that the upkeep gives to the same note when it archives it, and gave before."""
        name = self.name_of(path)
        others = (self.at(ARCHIVE + name), self.at(name.removeprefix(ARCHIVE))) if name else ()
        return tuple(dict.fromkeys((path, *others)))


AT_ROOT = AgentFolder()


def _day_name(day: date) -> str:
    return f"{DAILY}{day.isoformat()}.md"


def agent_folder(setting: str) -> AgentFolder:
    """The folder that a person names, with or without a slash at its end; raises `ConfigError`."""
    inside = setting.strip().strip("/")
    if not inside:
        return AgentFolder()
    try:
        check(inside)
    except BadPath as error:
        raise ConfigError("vault.folder: {problem}", hint=_FOLDER_HINT, problem=error) from error
    if is_hidden(inside) or any(mark in inside for mark in _NO_LINK):
        raise ConfigError("vault.folder: {folder} cannot be the agent's folder", hint=_FOLDER_HINT, folder=inside)
    return AgentFolder(f"{inside}/")


def is_log(path: str, home: AgentFolder) -> bool:
    """True for a note to which lines are only ever added, so that those of two machines belong into it by time."""
    row = home.row(path)
    is_changelog = row.path == PROFILE and path.rpartition("/")[2] == "_changelog.md"
    return row.logs or row.path in {SESSIONS, JOB_HISTORY} or is_changelog


def instructs(path: str) -> bool:
    """True if agents read a note of this name as instructions, in any folder."""
    name = folded(path.rpartition("/")[2])
    return name.endswith(".md") and name.partition(".")[0] in _INSTRUCTIONS


def may_instruct_others(path: str) -> bool:
    """True if a note of this name may be instructions for whichever agent: enough for a look at what arrives."""
    first, *rest = folded(path.rpartition("/")[2]).split(".")
    return instructs(path) or (rest[-1:] == ["md"] and (first in _OTHERS or not _VARIANTS.isdisjoint(rest[:-1])))


def is_ordinary_note(path: str) -> bool:
    """True for a note that only people read, by its name: a Markdown file in no hidden folder and in none of templates.

    Programs look for files by names that stand out: a kind behind a second dot (`AGENTS.override.md`), all in capitals
    (`GEMINI.md`, `README.md`), or an ending of their own. A plain name is made of words.
    """
    name = path.rpartition("/")[2]
    stem = _as_found(name.removesuffix(".md"))
    is_special = _KIND.search(stem) or _CAPITALS.fullmatch(stem) or _SHORT.fullmatch(stem)
    return name.endswith(".md") and not (is_special or is_hidden(path) or is_template(path) or instructs(path))


def is_template(path: str) -> bool:
    """True for a note that an editor copies into new notes, by the name of one of its folders."""
    return any(folded(name) in _TEMPLATES for name in path.split("/")[:-1])


def is_hidden(path: str) -> bool:
    """True if a name in `path` begins with a dot."""
    return any(folded(name).startswith(".") for name in path.split("/"))


def folded(name: str) -> str:
    """One name of a path, normalised as the most tolerant file system does it."""
    return _as_found(name if name.isascii() else unicodedata.normalize("NFKC", _visible(name).casefold())).casefold()


def _as_found(name: str) -> str:
    """One name as the most tolerant file system has it, in its own case."""
    plain = (name if name.isascii() else _visible(name)).strip(" ")
    return plain.partition(":")[0].rstrip(". ") or plain


def _visible(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")


def _is_same_name(name: str, own: str) -> bool:
    """True if a tolerant file system may take the first name for the second, also as a short name."""
    plain, wanted = folded(name), folded(own)
    short = _SHORT.fullmatch(plain)
    return plain == wanted or (short is not None and wanted.replace(".", "").startswith(short[1]))


def _full_name(path: str) -> str:
    """`path`, with a short last name replaced by the matching name in the table; the strictest one of several."""
    parent, _, name = path.rpartition("/")
    if (short := _SHORT.fullmatch(name)) is None:
        return path
    meant = [
        known
        for known in _ROWS
        if known.rpartition("/")[0] == parent and known.rpartition("/")[2].replace(".", "").startswith(short[1])
    ]
    return max(meant, key=lambda known: _ROWS[known].write, default=path)
