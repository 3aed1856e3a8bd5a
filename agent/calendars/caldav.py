"""Reads the calendars of a CalDAV server (RFC 4791) by two kinds of requests: what there is, and the events of a time.

Written here: the usual library brings another HTTP library of 20 MB in the place of one that other packages use, and
has no limits of size.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent.calendars.fetch import MOST_BYTES, CalendarAnswer, CalendarNetwork, same_host
from agent.calendars.reading import UnreadableCalendar
from agent.dataclass import dataclass
from agent.texts import Sentence

if TYPE_CHECKING:
    from lxml.etree import _Element

_DAV, _CAL, _CS = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}", "{http://calendarserver.org/ns/}"
_MOST_CALENDARS = 30
_HEAD = (
    '<?xml version="1.0"?><{root} xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" '
    'xmlns:S="http://calendarserver.org/ns/">'
)
_FIND = (
    _HEAD.format(root="propfind") + "<prop><resourcetype/><current-user-principal/><C:calendar-home-set/><S:getctag/>"
    "<sync-token/><C:supported-calendar-component-set/></prop></propfind>"
)


@dataclass(frozen=True, slots=True)
class RemoteCalendar:
    """A calendar of a server; `tag` changes with its events, empty if the server has none."""

    url: str
    tag: str


def find_calendars(network: CalendarNetwork, url: str) -> tuple[RemoteCalendar, ...]:
    """The calendar at an address, else all those of the person whose login it is. Raises `UnreadableCalendar`."""
    found = _ask(network, "PROPFIND", url, _FIND, depth="0", may_fail=True)
    if found is None:
        found = _ask(network, "PROPFIND", urljoin_root(url, "/.well-known/caldav"), _FIND, depth="0")
    assert found is not None
    for _ in range(3):
        rows = tuple(_rows(found))
        if calendars := tuple(_calendars(found, rows)):
            return calendars[:_MOST_CALENDARS]
        home = next((href for _, row in rows if (href := _href(row, f"{_CAL}calendar-home-set"))), "")
        next_one = home or next((href for _, row in rows if (href := _href(row, f"{_DAV}current-user-principal"))), "")
        if not next_one:
            break
        target = same_host(found.url, next_one, urlsplit(url).hostname or "")
        found = _ask(network, "PROPFIND", target, _FIND, depth="1" if home else "0")
        assert found is not None
    raise UnreadableCalendar(Sentence("{host} has no calendar for this login", host=urlsplit(url).hostname))


def events_between(network: CalendarNetwork, calendar: RemoteCalendar, first: date, last: date) -> bytes:
    """The events of a calendar in this time, as calendars one after the other. Raises `UnreadableCalendar`."""
    span = f'<C:time-range start="{first:%Y%m%d}T000000Z" end="{last:%Y%m%d}T000000Z"/>'
    body = (
        _HEAD.format(root="C:calendar-query")
        + "<prop><C:calendar-data/></prop><C:filter>"
        + f'<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">{span}</C:comp-filter></C:comp-filter>'
        + "</C:filter></C:calendar-query>"
    )
    answer = _ask(network, "REPORT", calendar.url, body, depth="1")
    assert answer is not None
    texts = (row.findtext(f".//{_CAL}calendar-data") or "" for _, row in _rows(answer))
    return "\r\n".join(each.strip() for each in texts if each.strip()).encode()


def urljoin_root(url: str, path: str) -> str:
    """A path on the server of an address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def _ask(
    network: CalendarNetwork, method: str, url: str, body: str, depth: str, *, may_fail: bool = False
) -> CalendarAnswer | None:
    """A multi-status answer; None for another one if it `may_fail`."""
    headers: Mapping[str, str] = {"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}
    answer = network.ask(method, url, headers, body, 2 * MOST_BYTES)
    if answer.status == 207:
        return answer
    host = urlsplit(url).hostname or ""
    if answer.status in (401, 403):
        raise UnreadableCalendar(Sentence("{host} does not accept the user or the password", host=host))
    if may_fail and answer.status in (400, 404, 405, 501):
        return None
    raise UnreadableCalendar(Sentence("{host} answered {status}", host=host, status=answer.status))


def _rows(answer: CalendarAnswer) -> Iterator[tuple[str, "_Element"]]:
    """The address of each thing in an answer, and what is said of it."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(answer.body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        host = urlsplit(answer.url).hostname
        raise UnreadableCalendar(Sentence("{host} answers in no form of CalDAV", host=host)) from error
    for row in root.iter(f"{_DAV}response"):
        yield (row.findtext(f"{_DAV}href") or "").strip(), row


def _calendars(answer: CalendarAnswer, rows: "tuple[tuple[str, _Element], ...]") -> Iterator[RemoteCalendar]:
    host = urlsplit(answer.url).hostname or ""
    for href, row in rows:
        kinds = [each.get("name", "").upper() for each in row.iter(f"{_CAL}comp")]
        if row.find(f".//{_DAV}resourcetype/{_CAL}calendar") is not None and (not kinds or "VEVENT" in kinds):
            tag = row.findtext(f".//{_CS}getctag") or row.findtext(f".//{_DAV}sync-token") or ""
            yield RemoteCalendar(same_host(answer.url, href, host), tag.strip())


def _href(row: "_Element", name: str) -> str:
    return (row.findtext(f".//{name}/{_DAV}href") or "").strip()
