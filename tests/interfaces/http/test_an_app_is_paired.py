"""A code pairs one app once; the app's token opens what it is for and nothing else, until it is taken away."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from agent.interfaces.cli.serve import stream_from_daemon
from agent.interfaces.http.api.table import TABLE
from agent.interfaces.http.door.app_routes import APP_ROUTES, is_open_to_apps
from agent.interfaces.http.door.browsers import DAYS, Browsers, browsers_of
from agent.interfaces.http.door.guard import OBSIDIAN
from agent.interfaces.http.door.pairing import SECONDS, TRIES, PairingCodes
from agent.interfaces.http.door.sign_in import SignIn
from tests.fakes import FakeClock
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import command, environment


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("apps")) as found:
        yield found


def new_code(house: OpenHouse) -> str:
    _, data = next(iter(stream_from_daemon(house.workspace, "/api/v1/pairings", {})))
    assert data["urls"] == [house.url.rstrip("/")]
    return str(data["code"])


def pair(house: OpenHouse, code: str, name: str = "Obsidian, Linux") -> httpx.Response:
    return httpx.post(f"{house.url}pair", json={"code": code, "name": name})


@contextmanager
def app(house: OpenHouse) -> Iterator[httpx.Client]:
    """A client with the token of an app that was paired just now."""
    headers = {"Authorization": f"Bearer {pair(house, new_code(house)).json()['token']}"}
    with httpx.Client(base_url=house.url, headers=headers) as found:
        yield found


def test_a_code_counts_once(house: OpenHouse) -> None:
    code = new_code(house)
    paired = pair(house, code.lower().replace("-", " "))
    assert paired.status_code == 200 and paired.json()["vault"] == house.root.name
    assert pair(house, code).status_code == 403


def test_wrong_codes_withdraw_the_right_one(house: OpenHouse) -> None:
    code = new_code(house)
    assert {pair(house, "AAAA-AAAA").status_code for _ in range(TRIES)} == {403}
    assert pair(house, code).status_code == 403


def test_no_page_of_another_site_pairs(house: OpenHouse) -> None:
    code = new_code(house)
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        sent = httpx.post(f"{house.url}pair", json={"code": code, "name": "x"}, headers=headers)
        assert sent.status_code in {403, 421}
    assert httpx.get(f"{house.url}pair").status_code == 401
    assert pair(house, code, "<b>").status_code == 422
    assert pair(house, code).status_code == 200, "none of them was a try"


def test_obsidians_own_origin_enters_with_a_token_or_a_code_only(house: OpenHouse) -> None:
    origin = {"Origin": OBSIDIAN}
    paired = httpx.post(f"{house.url}pair", json={"code": new_code(house), "name": "x"}, headers=origin)
    shown = {**origin, "Authorization": f"Bearer {paired.json()['token']}"}
    answer = httpx.get(f"{house.url}api/v1/health", headers=shown)
    assert (paired.status_code, answer.status_code) == (200, 200)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    for headers in (origin, {"Origin": "app://evil.example", "Authorization": shown["Authorization"]}):
        assert httpx.get(f"{house.url}api/v1/health", headers=headers).status_code == 403


def test_a_code_is_over_after_its_time_and_when_a_new_one_is_made() -> None:
    clock = FakeClock()
    codes = PairingCodes(clock)
    first = codes.make()
    second = codes.make()
    assert not codes.redeem(first) and codes.state_of(first) == "over"
    assert codes.current() == second and codes.state_of(second) == "waits"
    clock.advance(SECONDS)
    assert not codes.redeem(second) and codes.current() == ""
    assert not codes.redeem("")


def test_a_code_whose_token_cannot_be_kept_has_paired_nothing(tmp_path: Path) -> None:
    (tmp_path / "http").write_text("no folder")
    sign_in = SignIn("secret", FakeClock(), Browsers(tmp_path / "http", FakeClock()))
    code = sign_in.pairing.make()
    with pytest.raises(OSError):
        sign_in.pair(code, "Obsidian")
    assert sign_in.pairing.state_of(code) == "over"


def test_the_token_of_an_app_opens_its_routes_and_no_others(house: OpenHouse) -> None:
    with app(house) as client:
        assert client.get("/api/v1/health").status_code == 200
        assert client.get("/api/v1/needs").json()["approvals"] == []
        known = {(method, path) for method, paths in APP_ROUTES.items() for path in paths}
        assert known - {(each.method, each.path) for each in TABLE} == {("DELETE", "/pair")}
        for each in TABLE:
            if (each.method, each.path) not in known:
                path = each.path.replace("{", "").replace(":path", "").replace("}", "")
                assert client.request(each.method, path).status_code == 403, (each.method, each.path)
        for page in ("/", "/browsers", "/settings", "/picture/x.png", "/api/v1/runs/x/../../notes/tea.md"):
            assert client.get(page).status_code in {401, 403}, page
        assert client.post("/browsers/pair").status_code == 403


def test_a_path_is_open_as_a_whole_only() -> None:
    assert is_open_to_apps("POST", "/api/v1/approvals/approvals/2026 a.md")
    for method, path in (("GET", "/api/v1/needs/x"), ("GET", "/x/api/v1/needs"), ("PUT", "/api/v1/runs"),
                         ("GET", "/api/v1/runs/a/b"), ("GET", "/apixv1/needs")):  # fmt: skip
        assert not is_open_to_apps(method, path)


def test_an_app_is_listed_and_signed_out_as_browsers_are(house: OpenHouse) -> None:
    with app(house) as client:
        listed = house.get("/api/v1/browsers")["browsers"]
        known = next(each for each in listed if each["is_app"])
        assert (known["name"], known["port"]) == ("Obsidian, Linux", 0)
        house.send("DELETE", f"/api/v1/browsers/{known['id']}")
        assert client.get("/api/v1/health").status_code == 401


def test_an_app_signs_itself_out(house: OpenHouse) -> None:
    assert "no app" in house.send("DELETE", "/pair", code=403)["detail"]
    with app(house) as client:
        before = len(browsers_of(house.workspace).all())
        assert client.delete("/pair").status_code == 200
        assert client.delete("/pair").status_code == 401
        assert len(browsers_of(house.workspace).all()) == before - 1


def test_a_cookie_is_no_token_of_an_app_and_a_token_no_cookie(tmp_path: Path) -> None:
    browsers = Browsers(tmp_path, FakeClock())
    cookie, token = browsers.add("secret", 0, "curl"), browsers.add_app("secret", "Obsidian")
    assert browsers.find_app("secret", cookie) is None and browsers.find("secret", 0, token) is None
    assert browsers.find_app("secret", token) is not None and browsers.find_app("other", token) is None


def test_an_app_that_is_used_stays_signed_in(tmp_path: Path) -> None:
    clock = FakeClock()
    browsers = Browsers(tmp_path, clock)
    token = browsers.add_app("secret", "Obsidian")
    for _ in range(3):
        clock.advance(timedelta(days=DAYS - 1).total_seconds())
        assert browsers.find_app("secret", token) is not None
    clock.advance(timedelta(days=DAYS).total_seconds())
    assert browsers.find_app("secret", token) is None


def test_the_events_of_a_run_are_read_in_whole_responses(house: OpenHouse) -> None:
    with app(house) as client:
        run = client.post("/api/v1/runs", json={"task": "hello there"}).json()["id"]
        names, last = list[str](), "0"
        while "end" not in names:
            headers = {"Last-Event-ID": last}
            text = client.get(f"/api/v1/runs/{run}/events", params={"once": True}, headers=headers, timeout=60).text
            names += [line.removeprefix("event: ") for line in text.splitlines() if line.startswith("event: ")]
            last = next((line[4:] for line in reversed(text.splitlines()) if line.startswith("id: ")), last)
        assert names[0] == "started" and names.count("end") == 1
        over = client.get(f"/api/v1/runs/{run}/events", params={"once": True}, headers={"Last-Event-ID": last})
        assert over.text == "", "and nothing is waited for once it is over"


def test_the_command_shows_a_code_and_waits_until_it_is_used(house: OpenHouse) -> None:
    own = {name: value for name, value in os.environ.items() if name.startswith("VAULT_AGENT_")}
    words, found = command(house.root, "obsidian", "pair"), environment(own)
    with subprocess.Popen(words, env=found, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        _, address, code = (process.stdout.readline() for _ in range(3))
        assert address.split()[-1] == house.url.rstrip("/") and code.split()[-1] in house.get("/browsers")
        assert pair(house, code.split()[-1]).status_code == 200
        assert process.wait(60) == 0
        assert "connected" in process.stderr.read()
