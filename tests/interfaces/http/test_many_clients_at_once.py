"""Many clients on one note: no line of any of them is lost, and no request is carried out twice."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256

import pytest

from agent.interfaces.http.application import StoredAnswers, StoredResponse
from tests.interfaces.http.doors import OpenHouse, open_house

CLIENTS, LINES = 6, 4


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house")) as found:
        yield found


def add_line(house: OpenHouse, line: str) -> int:
    """Put a line at the end of the note from the version that is there; the number of stale tries."""
    tries = 0
    while True:
        read = house.client.get("/api/v1/notes/shared.md")
        headers = {"If-Match": read.headers["ETag"]}
        text = read.json()["text"] + f"{line}\n"
        response = house.client.put("/api/v1/notes/shared.md", json={"text": text}, headers=headers)
        if response.status_code == 200:
            return tries
        assert response.status_code in {412, 503}, response.text
        tries += 1


def test_writers_of_one_note_lose_no_line(house: OpenHouse) -> None:
    house.put("shared.md", "# Shared\n\n", 201, If_None_Match="*")
    lines = [f"client {client}, line {number}" for client in range(CLIENTS) for number in range(LINES)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(partial(add_line, house), lines))

    assert sorted((house.root / "shared.md").read_text().splitlines()[2:]) == sorted(lines)


def test_a_request_that_is_sent_many_times_at_once_is_carried_out_once(house: OpenHouse) -> None:
    def send(_: int) -> tuple[int, str]:
        response = house.client.post(
            "/api/v1/notes/once.md/append", json={"text": "tea"}, headers={"Idempotency-Key": "at once"}
        )
        return response.status_code, response.text

    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = set(pool.map(send, range(CLIENTS * 2)))

    assert len(answers) == 1
    assert (house.root / "once.md").read_text() == "tea\n"


def test_an_answer_outlives_the_daemon_and_ends_after_a_day(house: OpenHouse) -> None:
    asked = ("POST", "/x", "", b"{}")
    first = StoredAnswers(house.workspace).once("key", asked, lambda: StoredResponse(201, b'{"n": 1}', {"ETag": '"1"'}))

    again = StoredAnswers(house.workspace).once("key", asked, lambda: StoredResponse(201, b'{"n": 2}', {}))

    assert again == first
    name = sha256(b"key").hexdigest()
    file = house.workspace.vault.private_folder / "http/answers" / name
    assert file.stat().st_mode & 0o077 == 0
    stored = json.loads(file.read_text())
    file.write_text(json.dumps({**stored, "at": stored["at"] - 86_401}))
    later = StoredAnswers(house.workspace).once("key", asked, lambda: StoredResponse(201, b'{"n": 2}', {}))
    assert later.body == b'{"n": 2}'
