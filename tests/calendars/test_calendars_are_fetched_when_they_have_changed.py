"""A calendar is a file, an address or a CalDAV server: fetched when it has changed, and kept while it is away."""

import gzip
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agent.calendars.fetch import same_host
from agent.calendars.reading import UnreadableCalendar
from agent.calendars.store import CalendarStore, Refreshed
from agent.config.calendars import CalendarConfig
from agent.config.secrets import Secret
from tests.calendars.servers import PASSWORD, USER, FileServer, calendar, event, file_server, radicale
from tests.fakes import FakeClock

DAY = date(2026, 12, 1)
NOON = event("1", "DTSTART:20261201T120000Z")
LATER = event("2", "DTSTART:20261202T120000Z", title="Coffee")


class Shelf:
    """The copy of one calendar, looked at a quarter of an hour later each time."""

    def __init__(self, folder: Path, config: CalendarConfig) -> None:
        self.clock = FakeClock(datetime(2026, 12, 1, 8, tzinfo=UTC))
        self.store, self.config = CalendarStore(folder / "copies", self.clock), config

    def look(self) -> Refreshed:
        self.clock.advance(15 * 60)
        return self.store.refresh(self.config, 15)

    def titles(self) -> list[str]:
        return sorted(each.title for each in self.store.read(self.config, DAY, date(2026, 12, 8), UTC).events)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server() as fake:
        fake.body = calendar(NOON)
        yield fake


def test_a_file_is_read_again_when_it_was_saved(tmp_path: Path) -> None:
    file = tmp_path / "home.ics"
    file.write_bytes(calendar(NOON))
    shelf = Shelf(tmp_path, CalendarConfig("home", file=str(file)))
    assert shelf.look() == Refreshed() and shelf.titles() == ["Tea"]
    assert shelf.look() == Refreshed()
    file.write_bytes(calendar(NOON, LATER))
    assert shelf.look() == Refreshed(is_changed=True) and shelf.titles() == ["Coffee", "Tea"]
    file.unlink()
    assert "cannot be read" in shelf.look().problem and shelf.titles() == ["Coffee", "Tea"]


@pytest.mark.parametrize("tags", [{"ETag": '"a"'}, {"Last-Modified": "Tue, 01 Dec 2026 08:00:00 GMT"}])
def test_a_server_is_asked_for_what_is_new(tmp_path: Path, server: FileServer, tags: dict[str, str]) -> None:
    server.tags = tags
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    assert shelf.look() == Refreshed() and shelf.look() == Refreshed() and shelf.titles() == ["Tea"]
    asked = [{"if-none-match", "if-modified-since"} & given.keys() for _, given in server.asked]
    assert asked[0] == set() and len(asked[1]) == 1
    server.body, server.tags = calendar(NOON, LATER), {"ETag": '"b"'}
    assert shelf.look() == Refreshed(is_changed=True) and shelf.titles() == ["Coffee", "Tea"]


def test_what_only_looks_new_is_no_change(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    shelf.look()
    server.body = calendar(NOON.replace("DTSTAMP:2026", "DTSTAMP:2027"))
    assert shelf.look() == Refreshed()


def test_it_is_not_asked_before_it_is_due(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    shelf.look()
    shelf.store.refresh(shelf.config, 15)
    server.status = 500
    assert "answered 500" in shelf.look().problem
    assert "answered 500" in shelf.store.refresh(shelf.config, 15).problem
    assert len(server.asked) == 2


def test_a_damaged_copy_is_fetched_anew_at_once(tmp_path: Path, server: FileServer) -> None:
    server.tags = {"ETag": '"a"'}
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    shelf.look()
    (copy,) = (tmp_path / "copies").glob("*.ics")
    for harm in (lambda: copy.write_bytes(copy.read_bytes()[:-40]), copy.unlink):
        harm()
        assert shelf.store.refresh(shelf.config, 15) == Refreshed() and shelf.titles() == ["Tea"]


def test_a_copy_of_another_address_does_not_count(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    shelf.look()
    shelf.config = replace(shelf.config, url=server.url.replace("basic", "other"))
    assert shelf.titles() == []


def test_no_message_has_the_address(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    for server.status, server.body in ((404, b""), (200, b"<html>"), (200, b"x" * (5 << 20) + b"x")):
        said = shelf.look().problem
        assert said and "0123456789abcdef" not in said
    assert "larger than 5 MB" in said


def test_a_packed_answer_is_read_up_to_the_limit(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    server.tags, plain = {"Content-Encoding": "gzip"}, server.body
    server.body = gzip.compress(plain)
    shelf.look()
    assert shelf.titles() == ["Tea"]
    server.body = gzip.compress(bytes(200 << 20))
    assert "larger than 5 MB" in shelf.look().problem
    server.tags = {"Content-Encoding": "br"}
    assert "packed in a way" in shelf.look().problem


def test_a_redirect_stays_with_the_host(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    server.location = "/moved.ics"
    assert shelf.look() == Refreshed() and shelf.titles() == ["Tea"]
    server.location = "http://192.168.1.1/reboot"
    assert "sends on to 192.168.1.1" in shelf.look().problem


@pytest.mark.parametrize(
    "config",
    [
        CalendarConfig("work", url="http://calendar.example/a.ics"),
        CalendarConfig("work", caldav="http://192.168.1.5/dav", user="anna", password=Secret("walnut-forest-77")),
        CalendarConfig("work", url="http://anna:walnut-forest-77@192.168.1.5/a.ics"),
    ],
)
def test_nothing_secret_goes_over_the_network_in_clear(tmp_path: Path, config: CalendarConfig) -> None:
    said = Shelf(tmp_path, config).look().problem
    assert "has no TLS" in said and "walnut" not in said


def test_a_server_that_sends_a_little_now_and_then_is_not_waited_for(tmp_path: Path, server: FileServer) -> None:
    shelf, over = Shelf(tmp_path, CalendarConfig("work", url=server.url)), threading.Event()

    def dribble(handler: BaseHTTPRequestHandler) -> None:
        shelf.clock.advance(60)
        handler.wfile.write(b"B")
        handler.wfile.flush()
        over.wait(30)

    server.stall = dribble
    assert "no whole answer came" in shelf.look().problem
    over.set()


@pytest.mark.parametrize("href", ["http://[bad/", "//[::1/x"])
def test_an_address_that_is_none_is_said(href: str) -> None:
    with pytest.raises(UnreadableCalendar, match="an address that is none"):
        same_host("https://dav.example.org/", href, "dav.example.org")


def test_a_caldav_server_has_the_calendars_of_its_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAV_PASSWORD", PASSWORD)
    with radicale(tmp_path) as dav:
        dav.put("work", "1", "DTSTART:20261201T120000Z")
        dav.put("home", "2", "DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=WEEKLY", title="Bins")
        dav.put("home", "3", "DTSTART:20190101T120000Z", title="Long ago")
        account = CalendarConfig("dav", caldav=dav.url, user=USER, password=Secret("env:DAV_PASSWORD"))
        shelf = Shelf(tmp_path, account)
        assert shelf.look() == Refreshed() and shelf.titles() == ["Bins", "Tea"]
        assert shelf.look() == Refreshed()
        dav.put("work", "4", "DTSTART:20261203T120000Z", title="Lunch")
        assert shelf.look() == Refreshed(is_changed=True) and shelf.titles() == ["Bins", "Lunch", "Tea"]
        one = Shelf(tmp_path / "one", replace(account, caldav=f"{dav.url}/{USER}/work/"))
        assert one.look() == Refreshed() and one.titles() == ["Lunch", "Tea"]
        wrong = Shelf(tmp_path / "wrong", replace(account, password=Secret("walnut-forest-78")))
        assert "does not accept the user or the password" in wrong.look().problem
    assert "refused the connection" in shelf.look().problem and shelf.titles() == ["Bins", "Lunch", "Tea"]


def test_a_caldav_calendar_that_stays_the_same_has_what_comes_near(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAV_PASSWORD", PASSWORD)
    with radicale(tmp_path) as dav:
        dav.put("work", "1", "DTSTART:20280315T120000Z")
        account = CalendarConfig("dav", caldav=dav.url, user=USER, password=Secret("env:DAV_PASSWORD"))
        shelf = Shelf(tmp_path, account)
        shelf.look()
        assert shelf.store.span(account) == (date(2026, 10, 31), date(2028, 2, 4))
        shelf.clock.advance(200 * 86_400)
        shelf.look()
        found = shelf.store.read(account, date(2028, 3, 15), date(2028, 3, 15), UTC).events
        assert [each.title for each in found] == ["Tea"]


def test_the_copy_of_a_calendar_that_is_not_set_up_any_more_goes(tmp_path: Path, server: FileServer) -> None:
    shelf = Shelf(tmp_path, CalendarConfig("work", url=server.url))
    shelf.look()
    shelf.store.keep_only({"work"})
    assert shelf.titles() == ["Tea"]
    shelf.store.keep_only({"home"})
    assert list((tmp_path / "copies").iterdir()) == []
