"""`/api/profile-files`: the notes about the person, laid out, read, changed and searched."""

from collections.abc import Iterator

import pytest

from tests.interfaces.http.doors import OpenHouse, open_house

P = "/api/profile-files"
WORK = "---\ntype: profile\ntitle: Skills\nlayer: 2\n---\n# Skills\n\n- Plays the cello\n"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house")) as found:
        yield found


def test_the_notes_are_laid_out_once(house: OpenHouse) -> None:
    created = house.send("POST", f"{P}/initialize", {})["created"]
    assert "profile/31-preferences.md" in created
    assert house.send("POST", f"{P}/initialize", {})["created"] == []

    files = house.get(f"{P}/files", limit=200)["files"]
    assert len([each for each in files if not each["filename"].startswith("topics/")]) == 17
    assert {each["layer"] for each in house.get(f"{P}/layers")["layers"]} >= {0, 1, 2, 3, 4, 5}
    assert house.get(f"{P}/summary")["filled_notes"] == 0


def test_a_note_is_changed_and_found(house: OpenHouse) -> None:
    house.send("POST", f"{P}/initialize", {})
    first = house.client.get(f"{P}/files/20-skills-abilities.md")
    tag = first.headers["ETag"]
    done = house.send("PUT", f"{P}/files/20-skills-abilities.md", {"content": WORK}, If_Match=tag)
    assert done["commit"]

    stale = house.send("PUT", f"{P}/files/20-skills-abilities.md", {"content": "x"}, 412, If_Match=tag)["stale"]
    assert (stale["current"], stale["sent"]) == (WORK, "x")
    read = house.get(f"{P}/files/20-skills-abilities.md")
    assert (read["content"], read["filled"], read["filename"]) == (WORK, 1, "20-skills-abilities.md")
    (hit,) = house.send("POST", f"{P}/search", {"query": "cello"})["hits"]
    assert hit["text"] == "Plays the cello"
    assert "cello" in house.get(f"{P}/summary")["summary"]
    assert house.get(f"{P}/changelog")["changes"] == []


def test_a_topic_is_made_and_deleted(house: OpenHouse) -> None:
    made = house.send("POST", f"{P}/files/topics/cello.md", {}, 201)
    assert made["path"] == "profile/topics/cello.md"
    assert "# Cello" in house.get(f"{P}/files/topics/cello.md")["content"]
    house.send("POST", f"{P}/files/topics/cello.md", {"content": "again"}, 409)

    house.send("DELETE", f"{P}/files/topics/cello.md")

    house.get(f"{P}/files/topics/cello.md", 404)
    house.send("DELETE", f"{P}/files/topics/cello.md", code=404)
    house.send("PUT", f"{P}/files/topics/cello.md", {"content": "x"}, 404)


BAD = ["other.md", "topics/a/b.md", "_changelog.md", "..%2fAGENT.md", "topics%2f..%2f..%2fx.md"]


@pytest.mark.parametrize("name", BAD)
def test_no_other_note_is_reached(house: OpenHouse, name: str) -> None:
    assert house.client.get(f"{P}/files/{name}").status_code == 400
    assert house.client.put(f"{P}/files/{name}", json={"content": "x"}).status_code == 400
