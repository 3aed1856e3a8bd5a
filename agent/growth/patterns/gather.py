"""Reads a vault once into the activity of the last five weeks: only what its person said, wrote and asked themselves.

What somebody else wrote, what a model concluded, and sessions that arrived from elsewhere are left out.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path, PurePosixPath

from agent.clock import in_clock_zone, time_shown
from agent.errors import AgentError
from agent.growth.patterns.activity import Activity, OpenBox, Remark, ToolCallMade
from agent.growth.patterns.rising_topic import BEFORE, RECENT
from agent.llm.messages import Assistant, ToolResult, User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, load_session
from agent.markdown.blocks import parse_body
from agent.markdown.note import Note
from agent.markdown.tasks import find_tasks
from agent.memory import daily
from agent.memory.entry import MODEL, EntryType, with_offset
from agent.memory.store import StoredEntry, load_entries
from agent.schedule.shelf import is_goal
from agent.schedule.task_notes import load_tasks
from agent.texts import in_all_languages
from agent.tools.tool_names import resolved
from agent.vault.find import notes_with_line
from agent.vault.folders import DAILY, ENTRIES, OWN_NOTES, SESSIONS, is_template
from agent.vault.history.commit_index import HUMAN
from agent.vault.history.commits import Commit, blame, read_commits
from agent.vault.history.find import commits
from agent.vault.store import Vault

_OPEN, _TICKED = r"^[>[:space:]]*[-*+][[:space:]]+\[ \]", r"^[>[:space:]]*[-*+][[:space:]]+\[[xX]\]"
_NOTES, _TICKED_NOTES = 60, 300
"""The most notes that are read for open boxes and for ticked ones, those changed last."""
_OLD = 120 * 86_400
"""Seconds after which a note that nobody has changed is left alone: its boxes are history."""
_OPINIONS = "|".join(
    re.escape(word)
    for kind in ("pattern", "skill_feedback")
    for opinion in ("helpful", "not_helpful")
    for word in in_all_languages(f"{kind}.{opinion}")
)
_OPINION = re.compile(rf"({_OPINIONS})( · [0-9a-z]{{6}})?")
"""A box that asks what its person thinks of a pattern; with a code, of a notice."""


def open_boxes(vault: Vault, bulk: Collection[str]) -> tuple[OpenBox, ...]:
    """The open tasks. `bulk` are commits that brought many notes at once: they say nothing of when a box was made."""
    found = [*_boxes(vault, frozenset(bulk)), *_waiting(vault)]
    return tuple(sorted(found, key=lambda each: (each.since, each.link, each.text)))


def ticked_texts(vault: Vault) -> tuple[str, ...]:
    """The texts of the boxes that are ticked."""
    texts: dict[str, None] = {}
    for path in _newest(vault, notes_with_line(vault, _TICKED), _TICKED_NOTES):
        note = Note.parse(vault.own_version(path) or b"")
        tasks = find_tasks(parse_body(note.body, note.body_line))
        texts.update(dict.fromkeys(each.text for each in tasks if each.done))
    return tuple(texts)


def _boxes(vault: Vault, bulk: frozenset[str]) -> Iterator[OpenBox]:
    for path in _newest(vault, notes_with_line(vault, _OPEN), _NOTES):
        data = vault.own_version(path)
        note = Note.parse(data or b"")
        if data is None or is_goal(path, note, vault.home):
            continue
        tasks = find_tasks(parse_body(note.body, note.body_line))
        boxes = [each for each in tasks if each.state == " " and not _OPINION.fullmatch(each.text)]
        times = _times(vault, path, bulk) if boxes else {}
        lines = data.decode("utf-8", "surrogateescape").splitlines()
        for box in boxes:
            since = max(filter(None, (times.get(lines[box.line - 1]), _day(vault, path))), default=None)
            if since is not None:
                yield OpenBox(box.text, _link(vault, path), since)


def _times(vault: Vault, path: str, bulk: frozenset[str]) -> dict[str, datetime]:
    """When each line of a note was written, by its text."""
    rows = [(line, commit) for line, commit in blame(vault, path) if commit not in bulk]
    made = {each.id: each.when for each in read_commits(vault, sorted({commit for _, commit in rows}))}
    return {line: made[commit] for line, commit in rows if commit in made}


def _day(vault: Vault, path: str) -> datetime | None:
    day = vault.home.day_of(path)
    return in_clock_zone(datetime.combine(day, time(12)), vault.clock.now()) if day else None


def _link(vault: Vault, path: str) -> str:
    day = vault.home.day_of(path)
    return daily.link_to(day, vault.home) if day else f"[[{path.removesuffix('.md')}]]"


def _waiting(vault: Vault) -> Iterator[OpenBox]:
    for task in load_tasks(vault, done=False).waiting:
        if task.created_at is not None:
            since = max(task.created_at, task.due or task.created_at)
            yield OpenBox(task.title, f"[[{task.path.removesuffix('.md')}]]", since)


def _newest(vault: Vault, paths: Iterable[str], most: int) -> list[str]:
    """The person's notes among these, those changed last first."""
    now = vault.clock.now().timestamp()
    own = [
        path
        for path in paths
        if (vault.home.row(path) == OWN_NOTES or vault.home.holds(path, DAILY)) and not is_template(path)
    ]
    changed = [(time_shown(vault.clock, Path(vault.place.root, path).stat().st_mtime), path) for path in own]
    return [path for at, path in sorted(changed, key=lambda each: (-each[0], each[1])) if now - at < _OLD][:most]


SPAN = RECENT + BEFORE
"""The time that is looked at."""
MOST_ENTRIES, _SESSIONS = 3_000, 600
"""The most entries and sessions that are read, the newest first."""
_COMMITS, _BULK = 500, 50
"""The most commits of the person's that are read; one of more files than this came from elsewhere at once."""
_TEXT = 2_000
"""The most characters of one remark."""
_ASKED = re.compile(r"\A(?:User: |用户：)([^\n]*)")
_HEADING = re.compile(r"^#{1,6} ")
_LOGGED = re.compile(r"^###? \d\d:\d\d - ")
_MARK = re.compile(r"^%% vault-agent:.*%%\s*$")


def gather(vault: Vault, now: datetime) -> Activity:
    """The activity of the last 35 days."""
    since = now - SPAN
    days = [now.date() - timedelta(days=back) for back in range(SPAN.days, -1, -1)]
    remarks: list[Remark] = []
    calls: list[ToolCallMade] = []
    read: set[str] = set()
    for session in own_sessions(vault, days):
        read.add(f"[[{session.path.removesuffix('.md')}]]")
        remarks += _asked_in(session)
        if not session.untrusted_for("owner"):  # the reason of a failure may be a stranger's words
            calls += _calls_in(session)
    remarks += _said_in(load_entries(vault, notes_of_days(vault, ENTRIES, days)[:MOST_ENTRIES]), read)
    for day in days:
        remarks += _of_day(vault, day, now, read)
    edits = _edits(vault, since)
    remarks += _edited(vault, edits)
    boxes = open_boxes(vault, frozenset(each.id for each in edits if len(each.files) > _BULK))
    return Activity(
        now,
        tuple(sorted((each for each in remarks if since < each.at <= now), key=lambda each: (each.at, each.link))),
        tuple(sorted((each for each in calls if since < each.at <= now), key=lambda each: each.at)),
        boxes,
        ticked_texts(vault) if boxes else (),
    )


def own_sessions(vault: Vault, days: Iterable[date]) -> Iterator[Session]:
    """The sessions that began on these days, as this machine knows them to be its own."""
    for path in notes_of_days(vault, SESSIONS, days)[:_SESSIONS]:
        try:
            data = vault.read(path)
            if data is not None and not vault.provenance.strangers(path, data):
                yield load_session(vault, path)
        except (AgentError, OSError, ValueError):
            continue


def _asked_in(session: Session) -> Iterator[Remark]:
    """What the person asked, first and later on; not what a job or a guest did."""
    began: Began | None = None
    for record in session.records:
        match record.event:
            case Began() as began:
                pass
            case Spoken(User(words)) if began and not began.job and began.role == "owner" and not session.parent:
                yield Remark("asked", record.at, words[:_TEXT], f"[[{session.path.removesuffix('.md')}]]")


def _calls_in(session: Session) -> Iterator[ToolCallMade]:
    link = f"[[{session.path.removesuffix('.md')}]]"
    names = dict[str, str]()
    for record in session.records:
        match record.event:
            case Spoken(Assistant(calls=calls)):
                names |= {call.id: resolved(call).name for call in calls}
            case Spoken(ToolResult(id, tool, words, failed)):
                error = (words.strip() or "?")[:_TEXT] if failed else ""
                yield ToolCallMade(record.at, names.get(id, tool), link, error)


def _said_in(entries: Iterable[StoredEntry], read: set[str]) -> Iterator[Remark]:
    """What the person has stated; and what they asked in turns of conversations whose session was not read."""
    for each in entries:
        entry = each.entry
        if each.untrusted or entry.sender_id or entry.chat_id or entry.superseded_by or entry.source == MODEL:
            continue
        at = with_offset(entry.created)
        if entry.type.is_stated:
            yield Remark("stated", at, entry.text[:_TEXT], each.link)
        is_turn = entry.type is EntryType.CHAT_TURN and not _is_read(entry.session_id, read)
        if is_turn and (asked := _ASKED.match(entry.text)):
            yield Remark("asked", at, asked[1][:_TEXT], each.link)


def _is_read(session: str, read: set[str]) -> bool:
    name = PurePosixPath(session.removesuffix(".md")).name
    return bool(name) and any(link.endswith(f"/{name}]]") for link in read)


def _of_day(vault: Vault, day: date, now: datetime, read: set[str]) -> Iterator[Remark]:
    """What the note of a day says: the tasks in its log whose session was not read, and what the person wrote."""
    data = vault.own_version(vault.home.day_note(day))
    if data is None:
        return
    note = data.decode("utf-8", "replace")
    for logged in daily.log(note):
        hour, minute = (int(part) for part in logged.time.split(":"))
        if logged.session not in read and hour < 24 and minute < 60:
            at = in_clock_zone(datetime.combine(day, time(hour, minute)), now)
            yield Remark("asked", at, logged.title, daily.link_to(day, vault.home))
    for line in _own_lines(note):
        yield Remark(
            "written",
            in_clock_zone(datetime.combine(day, time(12)), now),
            line,
            daily.link_to(day, vault.home),
            is_timed=False,
        )


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


def _edits(vault: Vault, since: datetime) -> list[Commit]:
    return commits(vault, actor=HUMAN, since=since, limit=_COMMITS)


def _edited(vault: Vault, edits: Iterable[Commit]) -> Iterator[Remark]:
    """The person's own edits: when, and the lines that they added to their own notes."""
    changes = [
        (each.when, change)
        for each in edits
        if len(each.files) <= _BULK
        for change in each.files
        if change.after is not None and change.path.endswith(".md")
        and (vault.home.row(change.path) == OWN_NOTES or vault.home.holds(change.path, DAILY))
    ]  # fmt: skip
    ids = list({blob.oid for _, change in changes for blob in (change.before, change.after) if blob is not None})
    versions = dict(zip(ids, vault.read_blobs(ids), strict=True)) if ids else {}
    for when, change in changes:
        link = f"[[{change.path.removesuffix('.md')}]]"
        yield Remark("edited", when, PurePosixPath(change.path).stem, link)
        before = _lines(versions.get(change.before.oid) if change.before else None)
        after = _lines(versions.get(change.after.oid) if change.after else None)
        added = [line for line in after if line not in before]
        if added and not vault.home.holds(change.path, DAILY):  # the text of a day is known by its day
            yield Remark("written", when, "\n".join(added)[:_TEXT], link, is_timed=False)


def _lines(data: bytes | None) -> dict[str, None]:
    text = (data or b"").decode("utf-8", "replace")
    return dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())


def notes_of_days(vault: Vault, folder: str, days: Iterable[date]) -> list[str]:
    """The notes of these days in a folder with months, by their names; the newest first."""
    wanted = {day.isoformat() for day in days}
    found: list[tuple[str, str]] = []
    for month in sorted({day[:7].replace("-", "/") for day in wanted}):
        place = Path(vault.place.root, vault.home.at(folder), month)
        names = [path.name for path in place.glob("*.md")] if place.is_dir() else []
        found += [(name, f"{vault.home.at(folder)}{month}/{name}") for name in names if name[:10] in wanted]
    return [path for _, path in sorted(found, reverse=True)]
