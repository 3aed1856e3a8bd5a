"""A link signs in whoever opens it first, at its port; a browser is listed, and signed out from anywhere, at once."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.interfaces.cli.serve import stream_from_daemon
from agent.interfaces.http.door import guard as signed_in
from agent.interfaces.http.door.browsers import MOST, Browsers, browser_name, browsers_of, token_file
from agent.interfaces.http.door.sign_in import SignIn
from tests.fakes import FakeClock
from tests.interfaces.http.doors import OpenHouse, open_house

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("browsers")) as found:
        yield found


def link(house: OpenHouse, port: int | None = None) -> str:
    """A new link, by default to the port that is open."""
    asked = {"port": (httpx.URL(house.url).port or 0) if port is None else port}
    events = stream_from_daemon(house.workspace, "/api/v1/ports", asked)
    _, data = next(iter(events))
    return str(data["open"])


@contextmanager
def browser(house: OpenHouse) -> Iterator[httpx.Client]:
    """A browser that has opened a link."""
    headers = {"User-Agent": FIREFOX, "Sec-Fetch-Site": "same-origin"}
    with httpx.Client(base_url=house.url, headers=headers, timeout=60) as made:
        assert made.get(link(house)).status_code == 200
        yield made


def is_in(client: httpx.Client) -> bool:
    return client.get("/api/v1/health").status_code == 200


def test_a_browser_that_is_signed_in_uses_its_new_link_up(house: OpenHouse) -> None:
    with browser(house) as known, httpx.Client() as other:
        before = len(browsers_of(house.workspace).all())
        again = link(house)
        assert known.get(again).status_code == 200 and is_in(known)
        assert len(browsers_of(house.workspace).all()) == before, "its former sign-in has ended"
        refused = other.get(again)
        assert refused.status_code == 403 and "set-cookie" not in refused.headers
        assert known.get(again).status_code == 200 and is_in(known), "an old link opens the first page"


def test_a_former_cookie_ends_when_a_browser_signs_in_again(house: OpenHouse) -> None:
    with browser(house) as known, httpx.Client(base_url=house.url, cookies=dict(known.cookies)) as copied:
        assert is_in(copied)
        known.get(link(house))
        assert is_in(known) and not is_in(copied)


def test_a_link_is_for_its_port_and_is_used_up_at_any(house: OpenHouse) -> None:
    events = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": 0})
    _, data = next(iter(events))
    path, url = httpx.URL(str(data["open"])).path, str(data["url"])
    assert httpx.get(house.url.rstrip("/") + path).status_code == 403
    assert httpx.get(url.rstrip("/") + path).status_code == 403
    del events


def test_a_browser_is_signed_in_at_its_port_only(house: OpenHouse) -> None:
    events = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": 0})
    _, data = next(iter(events))
    other = httpx.URL(str(data["url"])).port
    with browser(house) as known:
        (name, value), *_ = known.cookies.items()
        renamed = name.replace(str(httpx.URL(house.url).port), str(other))
        for cookies in ({name: value}, {renamed: value}):
            assert httpx.get(f"{data['url']}api/v1/health", cookies=cookies).status_code == 401
    del events


def test_a_port_that_is_open_gives_a_new_link_and_stays_open_for_each_reader(house: OpenHouse) -> None:
    first = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": 0})
    _, opened = next(iter(first))
    port = httpx.URL(str(opened["url"])).port or 0
    second = stream_from_daemon(house.workspace, "/api/v1/ports", {"port": port})
    _, again = next(iter(second))
    assert again["url"] == opened["url"] and again["open"] != opened["open"]
    first.close()  # type: ignore[attr-defined]  # it is a generator
    assert httpx.get(str(again["open"])).status_code == 200
    assert any(each.port == port for each in browsers_of(house.workspace).all())
    second.close()  # type: ignore[attr-defined]

    def is_closed() -> bool:
        try:
            return httpx.get(str(again["url"])).status_code == 0
        except httpx.TransportError:
            return True

    house.until(is_closed, "the port is closed")
    assert not any(each.port == port for each in browsers_of(house.workspace).all()), "it was nobody's choice"


def test_a_browser_is_listed_and_ended_by_the_api(house: OpenHouse) -> None:
    with browser(house) as known, browser(house) as other:
        listed = house.get("/api/v1/browsers")["browsers"]
        assert {each["name"] for each in listed} >= {"Firefox, Linux"}
        assert all(each["port"] and each["since"] and each["seen"] for each in listed)
        house.send("DELETE", "/api/v1/browsers/nobody", None, 404)
        assert is_in(known) and is_in(other)
        newest = browsers_of(house.workspace).all()[0].id
        house.send("DELETE", f"/api/v1/browsers/{newest}")
        assert [is_in(known), is_in(other)].count(True) == 1
        house.send("DELETE", "/api/v1/browsers")
        assert not is_in(known) and not is_in(other)
    assert house.get("/api/v1/browsers")["browsers"] == []


def test_the_page_signs_others_out_and_then_itself(house: OpenHouse) -> None:
    with browser(house) as known, browser(house) as other:
        page = known.get("/browsers").text
        assert page.count("Firefox, Linux") >= 2 and page.count("this browser") == 1
        known.post("/browsers/end-others")
        assert is_in(known) and not is_in(other)
        (own,) = browsers_of(house.workspace).all()
        known.post("/browsers/end", data={"id": own.id})
        assert not is_in(known)


def test_what_a_browser_reads_ends_with_its_sign_in(house: OpenHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_in, "LOOK_SECONDS", 0.05)
    with browser(house) as known, known.stream("GET", "/api/v1/events") as events:
        lines = events.iter_lines()
        assert next(lines)
        browsers = browsers_of(house.workspace)  # as another process does it
        browsers.end([each.id for each in browsers.all()])
        for _ in lines:
            pass
    assert events.is_closed


def test_no_value_of_a_cookie_is_on_disk(house: OpenHouse) -> None:
    with browser(house) as known:
        (value,) = known.cookies.values()
        file = token_file(house.workspace).parent / "browsers.json"
        assert file.stat().st_mode & 0o777 == 0o600
        assert value not in file.read_text()


def test_a_restart_keeps_browsers_and_another_token_or_vault_knows_none(tmp_path: Path) -> None:
    clock = FakeClock()
    value = SignIn("token", clock, Browsers(tmp_path / "a", clock)).enter(80, FIREFOX)
    assert SignIn("token", clock, Browsers(tmp_path / "a", clock)).browser(value, 80)
    assert SignIn("other", clock, Browsers(tmp_path / "a", clock)).browser(value, 80) is None
    assert SignIn("token", clock, Browsers(tmp_path / "b", clock)).browser(value, 80) is None
    assert SignIn("token", clock, Browsers(tmp_path / "a", clock)).browser(value, 81) is None


DAMAGES = (
    *("", "[", "[" * 100_000, "{}", "[1]", '[{"id": "x"}]', "\0", "null"),
    '[{"id": 1, "digest": "", "port": "x", "name": "", "since": "never", "seen": ""}]',
)


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_a_damaged_list_signs_all_out_and_the_next_one_in(tmp_path: Path, damage: str) -> None:
    clock = FakeClock()
    sign_in = SignIn("token", clock, Browsers(tmp_path, clock))
    value = sign_in.enter(80, "")
    (tmp_path / "browsers.json").write_text(damage)
    assert sign_in.browser(value, 80) is None
    assert sign_in.browser(sign_in.enter(80, ""), 80)


def test_the_one_seen_longest_ago_makes_room(tmp_path: Path) -> None:
    clock = FakeClock()
    sign_in = SignIn("token", clock, Browsers(tmp_path, clock))
    values = []
    for _ in range(MOST + 1):
        values.append(sign_in.enter(80, ""))
        clock.advance(120)
        assert sign_in.browser(values[0], 80), "it is seen again and again"
    assert sign_in.browser(values[1], 80) is None
    assert len(sign_in.browsers.all()) == MOST
    assert sign_in.browsers.all()[0].seen == clock.now()


@given(st.text(max_size=300))
def test_a_browser_is_called_by_names_that_are_known_only(agent: str) -> None:
    programs, systems = ("Edge", "Opera", "Firefox", "Chrome", "Safari"), ("iPhone", "iPad", "Android", "ChromeOS")
    known = {"", "Windows", "macOS", "Linux", *programs, *systems}
    assert set(browser_name(agent).split(", ")) <= known
    assert set(browser_name(f"{agent}Linux Firefox/1").split(", ")) <= known


def test_a_browser_beside_another_vault_s_is_not_disturbed(tmp_path: Path, house: OpenHouse) -> None:
    with open_house(tmp_path) as second, browser(house) as known:
        jar = dict(known.cookies)
        assert not any(httpx.get(f"{second.url}api/v1/health", cookies={name: jar[name]}).is_success for name in jar)
        (name,) = jar
        other = second.live.workspace
        port = httpx.URL(second.url).port or 0
        theirs = SignIn(token_file(other).read_text(), other.vault.clock, browsers_of(other)).cookie_name(port)
        assert theirs.rpartition("-")[0] != name.rpartition("-")[0], "neither takes the other's cookie away"
        assert httpx.get(f"{second.url}api/v1/health", cookies={theirs: jar[name]}).status_code == 401
        assert is_in(known)


def test_a_list_has_no_more_than_it_says(tmp_path: Path) -> None:
    """Times without a zone, or from a clock that is days ahead, count for nobody."""
    clock = FakeClock()
    browsers = Browsers(tmp_path, clock)
    browsers.add("token", 80, "")
    rows = json.loads((tmp_path / "browsers.json").read_text())
    for since in ("2026-11-21 14:12:00", "2999-01-01 00:00:00+00:00", "1999-01-01 00:00:00+00:00"):
        (tmp_path / "browsers.json").write_text(json.dumps([{**rows[0], "since": since}]))
        assert browsers.all() == ()
