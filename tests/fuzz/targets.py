"""The readers of what others have written, each as a function of bytes that raises only what is a fault."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from agent.attachments.readers import reader_for
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.lark_frames import parse_frame
from agent.attention.channels.mail_source import parse_mail
from agent.attention.channels.telegram_messages import parse_message, parse_press
from agent.calendars.caldav import find_calendars
from agent.calendars.fetch import CalendarAnswer, CalendarNetwork
from agent.calendars.reading import UnreadableCalendar
from agent.calendars.reading_process import read as read_calendar
from agent.clock import SystemClock
from agent.errors import AgentError
from agent.importers.activity_page import page_records
from agent.importers.export import Export, ExportFile
from agent.index.query import parse_query, with_whole_days
from agent.interfaces.acp.greeting import answer_to
from agent.interfaces.cli.run_messages import parse_stream
from agent.interfaces.mcp.greeting import greeting_of
from agent.json_value import parse_json
from agent.llm.messages import JsonObject
from agent.llm.sse import parse_events
from agent.markdown.blocks import parse_body
from agent.markdown.links import find_header_links, find_links, linked_names
from agent.markdown.merging.notes import merge_notes
from agent.markdown.note import Note
from agent.markdown.relink import relinked
from agent.markdown.tasks import find_tasks, parse_task_dates, plain_task_words
from agent.schedule.job_header import parse_job
from agent.schedule.task import parse_task
from agent.skills.reading.skill import SkillSource
from agent.skills.reading.skill_file import SkillFolder, parse_skill
from agent.times.when import parse_when
from agent.tools.arguments import problems
from agent.tools.builtin.servers.listing import server_tool
from agent.tools.tool_names import short_schema
from tests.calendars.servers import calendar, event

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SPLIT = b"\n=====\n"
"""Between the parts of an input that has several."""
NOTE = """---
tags: [home, 路]
due: 2026-12-10
---
# Movers

- [ ] call [[Rui|him]] 📅 2026-12-10 ^a

> [!note] x
> ```
""".encode()
MAIL = b"\r\n".join(
    (
        b"From: a@b.c",
        b"Subject: =?utf-8?b?5pel?=",
        b"Content-Type: multipart/mixed; boundary=x",
        *(b"", b"--x", b"", b"hi", b"--x--"),
    )
)
MESSAGE = {
    "message_id": 1,
    "chat": {"id": 2, "type": "group"},
    "from": {"id": 3},
    "text": "@agent hi",
    "entities": [{"type": "mention", "offset": 0, "length": 6}],
}
EVENT = {"header": {"event_type": "im.message.receive_v1"}, "event": {"message": {"content": "{}"}}}
SKILL = b"---\nname: a\ndescription: b\nmetadata: {triggers: [x]}\n---\nDo it.\n"
JOB = b"---\ntype: job\non: {cron: '0 9 * * *'}\n---\nx\n"
HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
PAGE = b"<html><head><meta charset=gbk><title>a</title></head><body><article><p>b<table><tr><td>c</table>"
CANVAS = {"nodes": [{"id": "a", "type": "text", "text": "b"}], "edges": []}

CALENDAR = calendar(event("1", "DTSTART;TZID=Europe/Berlin:20261020T093000", "RRULE:FREQ=WEEKLY;COUNT=9"))
DAV = b"""<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/a/</href><propstat><prop>
<resourcetype><C:calendar/></resourcetype></prop></propstat></response></multistatus>"""
SCHEMA = {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}}


ACTIVITY = (
    b'<div class="outer-cell"><p>Gemini</p><div class="mdl-typography--body-1">Prompted&nbsp;tea<br>'
    b"<a href=a.png>a</a><br>May 2, 2025, 1:00:00\xe2\x80\xafPM CEST<br><p>Yes.</p></div></div>"
)


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, inputs to begin with, and an upper limit for the seconds of one input."""

    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    seconds: float = 5.0


def _note(data: bytes) -> None:
    note = Note.parse(data)
    assert note.data == data, "a note that nobody changed has other bytes"
    body = parse_body(note.body)
    find_tasks(body)
    with suppress(AgentError):
        changed = note.with_key("status", "done")
        assert changed.without_key("status").body == note.body, "a key has changed the body"


def _links(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    find_links(parse_body(text))
    find_header_links(data)
    linked_names(text)
    same = relinked(data, {"never/there.md": "new/place.md"})
    assert same == data or b"never/there" in data, "links were changed that lead elsewhere"


def _merge(data: bytes) -> None:
    base, ours, theirs = (*data.split(SPLIT), b"", b"")[:3]
    merged = merge_notes(base, ours, theirs)
    if ours == theirs:
        assert merged.data == ours, "two that agree were changed"
    if base == theirs:
        assert merged.data == ours, "only one side changed, and it was not taken"


def _times(data: bytes) -> None:
    with suppress(AgentError):
        parse_when(data.decode("utf-8", "replace"), NOW)
    parse_task_dates(data.decode("utf-8", "replace"))
    plain_task_words(data.decode("utf-8", "replace"))


def _query(data: bytes) -> None:
    with suppress(AgentError):
        parse_query(with_whole_days(data.decode("utf-8", "replace"), NOW.date()))


def _mail(data: bytes) -> None:
    with suppress(ValueError, RecursionError):  # as it says
        parse_mail(data)


def _telegram(data: bytes) -> None:
    said = _object(data)
    if said is not None:
        parse_message(said, {"id": 7, "username": "agent"})
        parse_press(said)


def _lark(data: bytes) -> None:
    with suppress(ValueError):
        parse_frame(data)
    with suppress(ValueError):
        parse_event(data, lambda: "me")


def _object(data: bytes) -> JsonObject | None:
    try:
        found = parse_json(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _settings(data: bytes) -> None:
    parse_skill(data, SkillFolder("a", SkillSource.VAULT, "skills/a/SKILL.md"))
    parse_job("jobs/a.md", data)
    parse_task("tasks/a.md", data)


def _frames(data: bytes) -> None:
    greeting_of(data)
    answer_to(data)
    with suppress(AgentError):
        list(parse_events([data[:7], data[7:]]))
    with suppress(ValueError):
        list(parse_stream(data.splitlines(keepends=True)))


def _calendar(data: bytes) -> None:
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):  # as `serve` takes them
        read_calendar(data, NOW.date(), NOW.date())


class _Dav(CalendarNetwork):
    """A CalDAV server that answers the same to everything."""

    def ask(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: str = "", most: int = 0
    ) -> CalendarAnswer:
        return CalendarAnswer(207, {}, self.user.encode("latin-1"), url)


def _caldav(data: bytes) -> None:
    with suppress(UnreadableCalendar):
        find_calendars(_Dav(SystemClock(), data.decode("latin-1")), "https://dav.example/")


def _server_tool(data: bytes) -> None:
    said = _object(data)
    tool = server_tool("a", "b", said, is_readonly=True)
    if tool is not None:
        problems({}, short_schema(tool.parameters))


def _activity(data: bytes) -> None:
    file = ExportFile("MyActivity.html", len(data), None, lambda: BytesIO(data))
    with suppress(AgentError):
        for each in page_records(file, Export(Path("MyActivity.html"), {file.name: file}), []):
            assert each["time"], "an entry without a time is left out"


def _attachment(ending: str) -> Callable[[bytes], object]:
    def read(data: bytes) -> None:
        # the reading process takes any error for a file that cannot be parsed; none may end or stop the process
        with suppress(Exception):
            reader_for(ending)(data)

    return read


def _archive(**files: str) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def _json(document: object) -> bytes:
    return json.dumps(document).encode()


TARGETS: Mapping[str, Target] = {
    "notes": Target(_note, (NOTE, b"---\n: [\n---\n", b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nx\r\n", b"```\n- [x] a\n")),
    "links": Target(_links, (NOTE, b'![[a.png|300]] [x](<b c.md#d> "t") [[a#^b]]\n', b"---\nup: '[[A]]'\n---\n")),
    "merges": Target(_merge, (SPLIT.join((NOTE, NOTE + b"- a\n", NOTE.replace(b"home", b"house"))),)),
    "times": Target(
        _times, (b"every other friday at 9 call Rui", "每周五下午三点打电话".encode(), "by 12/8 🔁 every week".encode())
    ),
    "queries": Target(_query, (b'tag:home -"old sofa" after:2026-01 path:"a b" /x/', b"before:last week")),
    "mails": Target(_mail, (MAIL,)),
    "telegram": Target(_telegram, (_json(MESSAGE),)),
    "lark": Target(_lark, (b"\x08\x01\x10\x02\x1a\x03abc", _json(EVENT))),
    "calendars": Target(_calendar, (CALENDAR,)),
    "caldav": Target(_caldav, (DAV,)),
    "server_tools": Target(_server_tool, (_json(SCHEMA),)),
    "headers": Target(_settings, (SKILL, JOB)),
    "frames": Target(_frames, (_json(HELLO) + b"\n", b"event: a\ndata: {}\n\n")),
    "activity": Target(_activity, (ACTIVITY,)),
    "html": Target(_attachment(".html"), (PAGE,)),
    "csv": Target(_attachment(".csv"), (b'a,b\n"1\n2",3\n', b"a;b\r\n")),
    "docx": Target(_attachment(".docx"), (_archive(word__document="<w:document/>"),)),
    "xlsx": Target(_attachment(".xlsx"), (_archive(xl__workbook="<workbook/>"),)),
    "epub": Target(_attachment(".epub"), (_archive(mimetype="application/epub+zip"),)),
    "canvas": Target(_attachment(".canvas"), (_json(CANVAS),)),
}
