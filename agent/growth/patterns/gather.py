"""Reads a vault once into the activity of the last five weeks: only what its person asked, wrote and stated themselves.

What somebody else wrote, what a model concluded, and sessions that arrived from elsewhere are left out.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePosixPath

from agent.clock import in_clock_zone, time_on_clock
from agent.errors import AgentError
from agent.growth.patterns.detectors import BEFORE, RECENT
from agent.growth.patterns.pattern import Activity, OpenBox, Remark, ToolCallMade
from agent.llm.messages import Assistant, ToolResult, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.markdown.blocks import parse_body
from agent.markdown.links import note_link
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox, find_tasks
from agent.memory import daily
from agent.memory.entry import MODEL, with_offset
from agent.memory.store import StoredEntry, load_entries
from agent.schedule.shelf import is_goal
from agent.schedule.task_notes import load_tasks
from agent.texts import in_all_languages
from agent.tools.tool_names import resolved
from agent.vault.find import notes_with_line
from agent.vault.folders import DAILY, ENTRIES, SESSIONS
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, blame, read_commits
from agent.vault.history.find import commits
from agent.vault.store import Vault
from agent.vault.task_lines import own_notes, own_words

SPAN = RECENT + BEFORE
"""The time that is looked at."""
MOST_ENTRIES, _SESSIONS = 3_000, 600
"""The most entries and sessions that are read, the newest first."""
_COMMITS, _BULK = 500, 50
"""The most commits of the person's that are read; the first of all, and one of more files than this, brought notes
that were there already."""
_NOTES, _TICKED_NOTES = 60, 300
"""The most notes that are read for open boxes and for ticked ones, those changed last."""
_OLD = 120 * 86_400
"""Seconds after which a note that nobody has changed is left alone: its boxes are history."""
_TEXT = 2_000
"""The most characters of one remark."""
_OPEN, _TICKED = r"^[>[:space:]]*[-*+][[:space:]]+\[ \]", r"^[>[:space:]]*[-*+][[:space:]]+\[[xX]\]"
_OPINIONS = "|".join(
    re.escape(word)
    for kind in ("pattern", "skill_feedback")
    for opinion in ("helpful", "not_helpful")
    for word in in_all_languages(f"{kind}.{opinion}")
)
_OPINION = re.compile(rf"({_OPINIONS})( · [0-9a-z]{{6}})?")
"""A box that asks what its person thinks of a pattern; with a code, of a notice."""
_HEADING = re.compile(r"^#{1,6} ")
_LOGGED = re.compile(r"^###? \d\d:\d\d - ")
_MARK = re.compile(r"^%% vault-agent:.*%%\s*$")


def gather(vault: Vault, now: datetime) -> Activity:
    """The activity of the last 35 days."""
    days, remarks, names = _days(now), list[Remark](), set[str]()
    for session in own_sessions(vault, days):
        names.add(_name(session.path))
        remarks += _asked_in(session)
    remarks += _in_entries(load_entries(vault, notes_of_days(vault, ENTRIES, days)[:MOST_ENTRIES]))
    for day in days:
        remarks += _in_day_note(vault, day, now, names)
    edits = commits(vault, actor=HUMAN, since=now - SPAN, limit=_COMMITS)
    single = [each for each in edits if each.parents and len(each.files) <= _BULK]
    remarks += _edited(vault, single)
    boxes = _open_boxes(vault, {each.id for each in edits} - {each.id for each in single})
    lately = sorted((each for each in remarks if now - SPAN < each.at <= now), key=lambda each: (each.at, each.link))
    return Activity(now, tuple(lately), boxes, _ticked_texts(vault) if boxes else ())


def gather_calls(vault: Vault, now: datetime) -> tuple[ToolCallMade, ...]:
    """The calls of tools in the last 35 days, oldest first, of runs that have read no stranger's text: the reason of a
    failure may be a stranger's words."""
    sessions = (each for each in own_sessions(vault, _days(now)) if not each.untrusted_for("owner"))
    return tuple(sorted((call for each in sessions for call in _calls_in(each)), key=lambda call: call.at))


def own_sessions(vault: Vault, days: Iterable[date]) -> Iterator[Session]:
    """The sessions that began on these days, as this machine knows them to be its own."""
    for path in notes_of_days(vault, SESSIONS, days)[:_SESSIONS]:
        try:
            data = vault.read(path)
            if data is not None and not vault.provenance.strangers(path, data):
                yield load_session(vault, path)
        except (AgentError, OSError, ValueError):
            continue


def notes_of_days(vault: Vault, folder: str, days: Iterable[date]) -> list[str]:
    """The notes of these days in a folder with months, by their names; the newest first."""
    home, wanted = vault.home.at(folder), {day.isoformat() for day in days}
    months = sorted({f"{home}{day[:4]}/{day[5:7]}" for day in wanted})
    found = (path for month in months for path in Path(vault.place.root, month).glob("*.md"))
    names = sorted((path.name, path.parent) for path in found if path.name[:10] in wanted)
    return [(parent / name).relative_to(vault.place.root).as_posix() for name, parent in reversed(names)]


def _days(now: datetime) -> list[date]:
    return [now.date() - timedelta(days=back) for back in range(SPAN.days, -1, -1)]


def _name(session: str) -> str:
    """The name of a session's note, of its path or a link to it."""
    return PurePosixPath(session.strip("[]").removesuffix(".md")).name


def _asked_in(session: Session) -> Iterator[Remark]:
    """The person's questions in a session; not those of a job or a guest."""
    is_theirs = False
    for record in session.records:
        match record.event:
            case Began() as began:
                is_theirs = not began.job and began.role == "owner" and not session.parent
            case Spoken(User(words)) if is_theirs:
                yield Remark("asked", record.at, words[:_TEXT], note_link(session.path))


def _calls_in(session: Session) -> Iterator[ToolCallMade]:
    names = dict[str, str]()
    for record in session.records:
        match record.event:
            case Spoken(Assistant(calls=calls)):
                names |= {call.id: resolved(call).name for call in calls}
            case Spoken(ToolResult(id, tool, words, failed)):
                reason = (words.strip() or "?")[:_TEXT] if failed else ""
                yield ToolCallMade(record.at, names.get(id, tool), note_link(session.path), reason)


def _in_entries(entries: Iterable[StoredEntry]) -> Iterator[Remark]:
    """The person's statements in entries."""
    for each in entries:
        entry = each.entry
        is_others = each.untrusted or entry.sender_id or entry.chat_id or entry.source == MODEL
        if entry.type.is_stated and not is_others and not entry.superseded_by:
            yield Remark("stated", with_offset(entry.created), entry.text[:_TEXT], each.link)


def _in_day_note(vault: Vault, day: date, now: datetime, sessions: Collection[str]) -> Iterator[Remark]:
    """The remarks in the note of a day: the tasks in its log whose session was not read, and the person's lines."""
    note = (vault.own_version(vault.home.day_note(day)) or b"").decode("utf-8", "replace")
    link, noon = daily.link_to(day, vault.home), in_clock_zone(datetime.combine(day, time(12)), now)
    for logged in daily.log(note):
        hour, minute = (int(part) for part in logged.time.split(":"))
        if _name(logged.session) not in sessions and hour < 24 and minute < 60:
            yield Remark("asked", in_clock_zone(datetime.combine(day, time(hour, minute)), now), logged.title, link)
    for line in _own_lines(note):
        yield Remark("written", noon, line, link, is_timed=False)


def _own_lines(note: str) -> Iterator[str]:
    """The lines of a daily note that are no header, heading, log or summary."""
    body = daily.without_summary(note)
    body = body.partition("\n---\n")[2] if body.startswith("---\n") else body
    in_log = False
    for line in body.splitlines():
        if _HEADING.match(line):
            in_log = _LOGGED.match(line) is not None or daily.is_section(line)
        elif line.strip() and not in_log and not _MARK.match(line):
            yield line.strip()[:_TEXT]


def _edited(vault: Vault, edits: Iterable[Commit]) -> Iterator[Remark]:
    """The person's own edits: when, and the lines that they added to their own notes."""
    changes = list(_changes_of_notes(vault, edits))
    lines = _lines(vault, {version for _, _, *versions in changes for version in versions})
    for when, path, before, after in changes:
        yield Remark("edited", when, PurePosixPath(path).stem, note_link(path))
        added = "\n".join(line for line in lines[after] if line not in lines[before])
        if added and not vault.home.holds(path, DAILY):  # the text of a day is known by its day
            yield Remark("written", when, added[:_TEXT], note_link(path), is_timed=False)


def _changes_of_notes(vault: Vault, edits: Iterable[Commit]) -> Iterator[tuple[datetime, str, str, str]]:
    """When each note was changed, its path, and the ids of its text before (empty: it was not there) and after."""
    files = [(edit.when, each) for edit in edits for each in edit.files if each.path.endswith(".md")]
    own = set(own_notes(vault, {each.path for _, each in files}))
    for when, each in files:
        if each.after is not None and each.path in own:
            yield when, each.path, each.before.oid if each.before else "", each.after.oid


def _lines(vault: Vault, versions: Iterable[str]) -> dict[str, dict[str, None]]:
    """The lines of versions of notes, by their ids; the empty id has no line."""
    ids = [each for each in versions if each]
    texts = ((data or b"").decode("utf-8", "replace") for data in vault.read_blobs(ids))
    rows = (dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()) for text in texts)
    return {"": {}, **dict(zip(ids, rows, strict=True))}


def _ticked_texts(vault: Vault) -> tuple[str, ...]:
    """The texts of the boxes that are ticked."""
    tasks = (task for _, _, found in _tasks(vault, _TICKED, _TICKED_NOTES) for task in found)
    return tuple(dict.fromkeys(each.text for each in tasks if each.done))


def _open_boxes(vault: Vault, bulk: Collection[str]) -> tuple[OpenBox, ...]:
    """The open tasks. `bulk` are commits that brought many notes at once: they say nothing of when a box was made."""
    found = [
        OpenBox(task.title, note_link(task.path), max(task.created_at, task.due or task.created_at))
        for task in load_tasks(vault, done=False).waiting
        if task.created_at is not None
    ]
    for path, note, tasks in _tasks(vault, _OPEN, _NOTES):
        boxes = [each for each in tasks if each.state == " " and not _OPINION.fullmatch(each.text)]
        if boxes and not is_goal(path, note, vault.home):
            found += _boxes_of_note(vault, path, note, boxes, bulk)
    return tuple(sorted(found, key=lambda each: (each.since, each.link, each.text)))


def _boxes_of_note(
    vault: Vault, path: str, note: Note, boxes: Iterable[TaskBox], bulk: Collection[str]
) -> Iterator[OpenBox]:
    """The boxes with a time: when their line was written, or noon of the day whose note it is."""
    day, lines = vault.home.day_of(path), note.data.decode("utf-8", "surrogateescape").splitlines()
    link = daily.link_to(day, vault.home) if day else note_link(path)
    noon = [in_clock_zone(datetime.combine(day, time(12)), vault.clock.now())] if day else []
    written = _written(vault, path, bulk)
    for box in boxes:
        if times := written.get(lines[box.line - 1], []) + noon:
            yield OpenBox(box.text, link, max(times))


def _written(vault: Vault, path: str, bulk: Collection[str]) -> dict[str, list[datetime]]:
    """When each line of a note was written, by its text."""
    rows = [(line, commit) for line, commit in blame(vault, path) if commit not in bulk]
    made = {each.id: each.when for each in read_commits(vault, sorted({commit for _, commit in rows}))}
    return {line: [made[commit]] for line, commit in rows if commit in made}


def _tasks(vault: Vault, pattern: str, most: int) -> Iterator[tuple[str, Note, tuple[TaskBox, ...]]]:
    """The person's notes with such a line, those changed last first, each with its boxes."""
    paths = own_notes(vault, notes_with_line(vault, pattern))
    changed = [(-time_on_clock(vault.clock, Path(vault.place.root, path).stat().st_mtime), path) for path in paths]
    old = _OLD - vault.clock.now().timestamp()
    for _, path in sorted(each for each in changed if each[0] < old)[:most]:
        note = own_words(vault, path)
        yield path, note, find_tasks(parse_body(note.body, note.body_line))
