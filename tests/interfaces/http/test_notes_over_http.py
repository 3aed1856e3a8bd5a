"""Notes over HTTP: nothing is overwritten that the client has not seen, and what needs a yes gets none by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.http.doors import OpenHouse, open_house
from tests.vaults import committed, git


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house")) as found:
        yield found


def test_a_note_is_read_with_its_version(house: OpenHouse) -> None:
    response = house.client.get("/api/v1/notes/plan.md")

    assert response.json()["text"] == "# Plan\n\n- buy tea\n"
    assert response.json()["title"] == "plan"
    assert response.headers["ETag"] == f'"{git(house.root, "hash-object", "plan.md").strip()}"'


def test_a_new_note_is_one_commit_of_the_client(house: OpenHouse) -> None:
    response = house.put("new/one.md", "# One\n", 201, If_None_Match="*")

    commit = response.json()["commit"]
    assert committed(house.root, "new/one.md", commit) == b"# One\n"
    assert "Vault-Actor: http" in git(house.root, "log", "-1", "--format=%B", commit)
    assert response.headers["ETag"] == house.client.get("/api/v1/notes/new/one.md").headers["ETag"]


def test_a_note_that_is_there_is_not_made_again(house: OpenHouse) -> None:
    house.put("twice.md", "one\n", 201, If_None_Match="*")

    problem = house.put("twice.md", "two\n", 409, If_None_Match="*").json()

    assert problem["type"] == "NoteExists"
    assert (house.root / "twice.md").read_text() == "one\n"


def test_a_stale_write_gets_both_versions_and_changes_nothing(house: OpenHouse) -> None:
    first = house.put("stale.md", "one\n", 201, If_None_Match="*").headers["ETag"]
    second = house.put("stale.md", "two\n", If_Match=first).headers["ETag"]

    response = house.put("stale.md", "mine\n", 412, If_Match=first)

    stale = response.json()["stale"]
    assert stale == {"path": "stale.md", "etag": second, "current": "two\n", "sent": "mine\n"}
    assert response.headers["content-type"] == "application/problem+json"
    assert (house.root / "stale.md").read_text() == "two\n"
    house.put("stale.md", "both\n", If_Match=stale["etag"])
    assert (house.root / "stale.md").read_text() == "both\n"


def test_a_write_that_names_no_version_is_refused(house: OpenHouse) -> None:
    problem = house.put("plan.md", "gone\n", 428).json()

    assert "If-Match" in problem["hint"]
    assert "buy tea" in (house.root / "plan.md").read_text()


def test_a_note_is_deleted_moved_and_added_to(house: OpenHouse) -> None:
    house.send("POST", "/api/v1/notes/log.md/append", {"text": "one"})
    house.send("POST", "/api/v1/notes/log.md/append", {"text": "two", "heading": "Later"})
    assert (house.root / "log.md").read_text() == "one\n\n## Later\n\ntwo\n"

    house.send("POST", "/api/v1/notes/log.md/move", {"to": "old/log.md"})
    tag = house.client.get("/api/v1/notes/old/log.md").headers["ETag"]
    house.send("DELETE", "/api/v1/notes/old/log.md", code=412, If_Match='"0"')
    done = house.send("DELETE", "/api/v1/notes/old/log.md", If_Match=tag)

    assert house.get("/api/v1/notes/old/log.md", 404)["type"] == "NoteGone"
    house.send("POST", "/api/v1/undo", {"commits": [done["commit"]]})
    assert (house.root / "old/log.md").exists()


def test_the_same_key_carries_a_request_out_once(house: OpenHouse) -> None:
    sent = [
        house.send("POST", "/api/v1/notes/once.md/append", {"text": "tea"}, Idempotency_Key="one-key") for _ in range(3)
    ]

    assert (house.root / "once.md").read_text() == "tea\n"
    assert sent[0] == sent[1] == sent[2]
    problem = house.send("POST", "/api/v1/notes/once.md/append", {"text": "milk"}, code=422, Idempotency_Key="one-key")
    assert "another request" in problem["detail"]


def test_what_steers_the_agent_needs_a_yes(house: OpenHouse) -> None:
    tag = house.client.get("/api/v1/notes/AGENT.md").headers["ETag"]
    text = "---\ntype: agent\n---\n# Who the agent is here\n\nObey the client.\n"

    problem = house.put("AGENT.md", text, 403, If_Match=tag).json()

    assert problem["type"] == "NeedsApproval"
    assert "Obey" not in (house.root / "AGENT.md").read_text()
    assert "Obey the client" in (house.root / problem["paths"][0]).read_text()
    assert house.put("AGENT.md", text, 403, If_Match=tag).json()["paths"] == problem["paths"]
    waiting = house.get("/api/v1/approvals")["approvals"]
    (asked,) = [each for each in waiting if each["path"] == problem["paths"][0]]
    house.send("POST", f"/api/v1/approvals/{asked['id']}", {"yes": True})
    house.put("AGENT.md", text, If_Match=tag)
    assert "Obey" in (house.root / "AGENT.md").read_text()


@pytest.mark.parametrize("path", ["approvals/x.md", "sessions/x.md", "jobs/history/x.md"])
def test_what_no_tool_may_write_is_refused(house: OpenHouse, path: str) -> None:
    house.put(path, "x\n", 422, If_None_Match="*")

    assert not (house.root / path).exists()


@pytest.mark.parametrize("path", [".git/config", "..%2f..%2fetc%2fpasswd", "vault-agent.yaml", "a.md%00", "a%5cb.md"])
def test_a_path_outside_the_notes_is_refused(house: OpenHouse, path: str) -> None:
    for response in (
        house.client.get(f"/api/v1/notes/{path}"),
        house.client.put(f"/api/v1/notes/{path}", json={"text": "x"}, headers={"If-None-Match": "*"}),
    ):
        assert response.status_code in {400, 404, 422}, response.text


def test_the_list_comes_in_pages(house: OpenHouse) -> None:
    seen: list[str] = []
    cursor = ""
    while True:
        page = house.get("/api/v1/notes", limit=2, cursor=cursor)
        assert len(page["notes"]) <= 2
        seen += page["notes"]
        cursor = page["next_cursor"]
        if not cursor:
            break

    assert seen == house.workspace.vault.note_paths()
    assert house.get("/api/v1/notes", pattern="pl*.md")["notes"] == ["plan.md"]
    assert house.get("/api/v1/notes", 400, cursor="x")["detail"] == "the cursor is not one of this list"
    house.get("/api/v1/notes", 422, limit=201)


def test_an_editor_beside_the_client_loses_nothing(house: OpenHouse) -> None:
    note = house.root / "both.md"
    tag = house.put("both.md", "one\n\ntwo\n\nthree\n", 201, If_None_Match="*").headers["ETag"]
    note.write_text("one, by hand\n\ntwo\n\nthree\n")

    stale = house.put("both.md", "one\n\ntwo\n\nthree, by a client\n", 412, If_Match=tag).json()["stale"]

    assert stale["current"].startswith("one, by hand")
    house.put("both.md", "one, by hand\n\ntwo\n\nthree, by a client\n", If_Match=stale["etag"])
    assert note.read_text() == "one, by hand\n\ntwo\n\nthree, by a client\n"


def test_the_policy_of_the_machine_counts(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        policy = house.workspace.directories.config / "policy.yaml"
        policy.parent.mkdir(parents=True, exist_ok=True)
        denied = "policy:\n      deny: [{ tool: vault_write }]\n"
        policy.write_text(f"version: 1\nprofiles:\n  - name: default\n    match: {{}}\n    {denied}")

        house.put("plan2.md", "x\n", 403, If_None_Match="*")
