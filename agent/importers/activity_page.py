"""*My Activity* of Google Takeout as a web page: its entries in the form in which they stand in the JSON of the same
export. A time stands there in the words of the account's language, of which English and Chinese are read.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from html import escape
from typing import BinaryIO
from urllib.parse import unquote

from lxml import etree

from agent.errors import UserError
from agent.importers.export import Export, ExportFile
from agent.importers.html_text import markdown_of
from agent.importers.values import LeftItem, LeftReason
from agent.llm.messages import JsonObject, text

_ENTRY, _BODY, _RIGHT = "outer-cell", "mdl-typography--body-1", "mdl-typography--text-right"
"""Classes of an entry, of its text, and of the empty cell beside that."""
_HEAD = 1 << 20
"""Bytes in which the first entry begins: the page's styles stand before it."""
_BLANKS = re.compile(r"\s+")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    r"(?P<month>[A-Z][a-z]{2})[a-z]*\.? (?P<day>\d{1,2}), (?P<year>\d{4})",
    r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2})[a-z]*\.? (?P<year>\d{4})",
    r"(?P<year>\d{4})(?:年|-|/)(?P<month>\d{1,2})(?:月|-|/)(?P<day>\d{1,2})日?",
)
_ZONE = r"(?:GMT|UTC)?[+-]\d{1,2}(?::?\d\d)?|[A-Z]{1,5}"
_HOURS = (
    rf",?(?: at)? ?(?P<before>{_ZONE})? ?(?P<early>凌晨|清晨|早上|上午)?(?P<late>中午|下午|晚上)?"
    rf"(?P<hour>\d{{1,2}}):(?P<minute>\d\d):(?P<second>\d\d) ?(?P<half>[AaPp])?(?:\.?[Mm]\.?)? ?(?P<zone>{_ZONE})?"
)
_TIMES = tuple(re.compile(date + _HOURS) for date in _DATES)
_OFFSET = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d\d)?")
_HOURS_EAST = {
    name: hours
    for hours, names in {
        -10: "HST", -8: "PST", -7: "MST PDT", -6: "CST MDT", -5: "EST CDT", -4: "EDT", 0: "UTC GMT Z WET",
        1: "BST CET WEST", 2: "CEST EET", 3: "EEST MSK", 8: "HKT SGT", 9: "JST KST", 10: "AEST", 11: "AEDT",
    }.items()
    for name in names.split()
}  # fmt: skip
"""The short names of zones that mean one zone; of the others, that of this machine's own zone is known, too."""


def is_activity(file: ExportFile) -> bool:
    """True for a page of activity that has some of Gemini."""
    with file.open() as stream:
        head = stream.read(_HEAD)
    return f'class="{_ENTRY}'.encode() in head and b"gemini" in head.lower()


def page_records(file: ExportFile, source: Export, left: list[LeftItem]) -> Iterator[JsonObject]:
    """The entries as the JSON has them, in their order; those whose time cannot be read are added to `left`. Raises
    `UserError` for a file that is no page."""
    try:
        with file.open() as stream:
            for entry in _entries(stream):
                found = _record(entry, source)
                if found["time"] and _is_gemini(found):
                    yield found
                elif _is_gemini(found):
                    left.append(LeftItem(text(found["title"]), LeftReason.TIME))
    except etree.XMLSyntaxError as error:
        hint = "the file is damaged: export it again"
        raise UserError("{name} is no page that can be read", hint=hint, name=file.name) from error


def _entries(stream: BinaryIO) -> Iterator["etree._Element"]:
    """The entries of a page, one at a time: what was read of it is not kept."""
    for _, element in etree.iterparse(stream, tag="div", html=True, encoding="utf-8", no_network=True, huge_tree=True):
        if _ENTRY in _classes(element):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _is_gemini(record: JsonObject) -> bool:
    return "gemini" in text(record["header"]).casefold()


def _record(entry: "etree._Element", source: Export) -> JsonObject:
    cells = [each for each in entry.iter("div") if _BODY in _classes(each) and _RIGHT not in _classes(each)]
    files = list[str]()
    for each in entry.iter("a", "img"):
        name = unquote(each.get("src", each.get("href", "")))
        if ":" not in name and source.named(name.rpartition("/")[2]):
            files.append(name)
            each.attrib.clear()  # it is shown below the words
    pieces = [each for cell in cells[:1] for each in _pieces(cell)]
    times = [time_of(words) if is_text and words else None for words, is_text in pieces]
    at = max((number for number, time in enumerate(times) if time), default=len(pieces))
    asked, answer = ("".join(escape(words) if is_text else words for words, is_text in part)
                     for part in (pieces[:at], pieces[at + 1 :]))  # fmt: skip
    time = times[at] if at < len(times) else None
    return {
        "header": next(("".join(map(str, each.itertext())) for each in entry.iter("p")), ""),
        "title": markdown_of(asked),
        "time": f"{time:%Y-%m-%dT%H:%M:%SZ}" if time else "",
        "safeHtmlItem": [{"html": answer}],
        "attachedFiles": files,
    }


def _pieces(cell: "etree._Element") -> Iterator[tuple[str, bool]]:
    """What a cell holds: its own text as text, and the HTML of its elements."""
    yield cell.text or "", True
    for each in cell:
        yield etree.tostring(each, encoding="unicode", method="html", with_tail=False), False
        yield each.tail or "", True


def _classes(element: "etree._Element") -> list[str]:
    return element.get("class", "").split()


def time_of(words: str) -> datetime | None:
    """The time that these words are, such as `May 2, 2025, 10:00:00 AM CEST`; None for any others."""
    line = _BLANKS.sub(" ", words).strip()
    for form in _TIMES:
        if (found := form.fullmatch(line)) is None:
            continue
        month, hour = found["month"], int(found["hour"])
        half = (found["half"] or "").lower()
        if half or found["early"] or found["late"]:
            hour = hour % 12 + (12 if half == "p" or found["late"] else 0)
        try:
            naive = datetime(
                int(found["year"]),
                int(month) if month.isdigit() else _MONTHS.index(month.lower()) + 1,
                int(found["day"]),
                hour,
                int(found["minute"]),
                int(found["second"]),
            )
            offset = _offset(found["zone"] or found["before"] or "", naive, is_chinese="年" in line)
            return naive.replace(tzinfo=timezone(offset)).astimezone(UTC) if offset is not None else None
        except (ValueError, OverflowError):
            return None
    return None


def _offset(zone: str, at: datetime, *, is_chinese: bool) -> timedelta | None:
    """How far east a zone is; None for one that is not known."""
    if found := _OFFSET.fullmatch(zone):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        return -offset if found[1] == "-" else offset
    local = at.astimezone()
    if zone and local.tzname() == zone:
        return local.utcoffset()
    hours = 8 if zone == "CST" and is_chinese else _HOURS_EAST.get(zone)
    return None if hours is None else timedelta(hours=hours)
