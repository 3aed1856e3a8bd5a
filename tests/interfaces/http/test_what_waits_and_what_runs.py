"""Runs, decisions, questions and sessions over HTTP: what one door decides, every door decides."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import call


@pytest.fixture
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenHouse]:
    from tests.stories.agents import NOTES

    with open_house(tmp_path, NOTES, *getattr(request, "param", ["hello from the script"])) as found:
        yield found


def over(house: OpenHouse, id: str) -> dict[str, Any]:
    """The run once it is over."""
    house.until(lambda: house.get(f"/api/v1/runs/{id}")["state"] != "running", "the run is over")
    found: dict[str, Any] = house.get(f"/api/v1/runs/{id}")
    return found


def events(house: OpenHouse, id: str, last: str = "") -> list[tuple[str, str, Any]]:
    """All events of a run, as (kind, id, data)."""
    headers = {"Last-Event-ID": last} if last else {}
    with house.client.stream("GET", f"/api/v1/runs/{id}/events", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        rows = [dict(line.split(": ", 1) for line in block.splitlines()) for block in "".join(
            response.iter_text()
        ).strip().split("\n\n")]  # fmt: skip
    return [(row["event"], row["id"], json.loads(row["data"])) for row in rows]


def test_a_task_is_answered_and_its_session_can_be_read(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "say hello"}, 201)

    done = over(house, started["id"])

    assert done["result"]["answer"] == "hello from the script"
    assert done["result"]["outcome"] == "finished"
    found = events(house, started["id"])
    assert found[0][0] == "started"
    assert found[-1][0] == "end"
    assert "".join(data["text"] for kind, _, data in found if kind == "text") == "hello from the script"
    assert events(house, started["id"], found[-2][1]) == found[-1:]
    session = house.get(f"/api/v1/sessions/{done['session']}")
    assert [each["role"] for each in session["messages"]][-1] == "assistant"
    assert session["outcome"] == "finished"
    assert [each["path"] for each in house.get("/api/v1/sessions")["sessions"]] == [done["session"]]
    assert house.get("/api/v1/runs")["runs"][0]["id"] == started["id"]


def test_an_unknown_run_says_what_to_do(house: OpenHouse) -> None:
    assert "/api/v1/runs" in house.get("/api/v1/runs/none", 404)["hint"]
    house.get("/api/v1/runs/none/events", 404)
    house.send("POST", "/api/v1/runs/none/cancel", code=404)
    house.send("POST", "/api/v1/runs", {"task": "  "}, 422)


PLANNED = [call("plan", done=["read"], now="sort", left=["link"]), "sorted"]


@pytest.mark.parametrize("house", [PLANNED], indirect=True)
def test_a_plan_is_told_among_the_events(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "sort all notes"}, 201)
    over(house, started["id"])
    (plan,) = [data for kind, _, data in events(house, started["id"]) if kind == "plan"]
    assert plan == {"done": ["read"], "now": "sort", "left": ["link"]}


WRITES = [call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long."), "it is written", "it is not"]


@pytest.mark.parametrize("house", [WRITES], indirect=True)
def test_a_call_that_needs_a_yes_waits_for_it_and_goes_on(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "change who you are"}, 201)
    waits = over(house, started["id"])["result"]
    assert waits["outcome"] == "needs_approval"
    assert "Be brief." in (house.root / "AGENT.md").read_text()

    (asked,) = house.get("/api/v1/approvals")["approvals"]
    shown = house.get(f"/api/v1/approvals/{asked['id']}")
    assert "+Be long." in shown["text"]
    assert shown["path"] == waits["waits_for"]
    house.send("POST", f"/api/v1/runs/{started['id']}/answer", {"text": "yes"}, 422)
    goes = house.send("POST", f"/api/v1/runs/{started['id']}/answer", {"yes": True})

    if goes["goes_on"] == "here":
        assert over(house, goes["run"])["result"]["answer"] == "it is written"
    house.until(lambda: "Be long." in (house.root / "AGENT.md").read_text(), "the run has gone on")
    assert house.get("/api/v1/approvals")["approvals"] == []
    problem = house.send("POST", f"/api/v1/approvals/{asked['id']}", {"yes": True}, 422)
    assert "already" in problem["detail"]


TWO = {"calls": [{"tool": "vault_append", "arguments": {"path": path, "text": "Be long."}}
                 for path in ("AGENT.md", "skills/tea/SKILL.md")]}  # fmt: skip


@pytest.mark.parametrize("house", [[TWO, "both are written"]], indirect=True)
def test_all_notes_that_wait_for_a_yes_are_named(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "change who you are"}, 201)
    waits = over(house, started["id"])["result"]
    asked = {each["path"] for each in house.get("/api/v1/approvals")["approvals"]}
    assert len(asked) == 2 and {waits["waits_for"], *waits["also_waits_for"]} == asked


@pytest.mark.parametrize("house", [[TWO, "one is written"]], indirect=True)
def test_a_yes_that_names_none_of_several_is_given_to_none(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "change who you are"}, 201)
    waits = over(house, started["id"])["result"]
    refused = house.send("POST", f"/api/v1/runs/{started['id']}/answer", {"yes": True}, 409)
    assert "which one" in refused["detail"] and "/api/v1/approvals" in refused["hint"]
    assert len(house.get("/api/v1/approvals")["approvals"]) == 2
    house.send("POST", f"/api/v1/approvals/{waits['also_waits_for'][0]}", {"yes": False})
    house.send("POST", f"/api/v1/runs/{started['id']}/answer", {"yes": False})
    assert house.get("/api/v1/approvals")["approvals"] == []


@pytest.mark.parametrize("house", [WRITES], indirect=True)
def test_a_no_is_told_to_the_run(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "change who you are"}, 201)
    over(house, started["id"])
    (asked,) = house.get("/api/v1/approvals")["approvals"]

    done = house.send("POST", f"/api/v1/approvals/{asked['code']}", {"yes": False, "reason": "not today"})

    assert (done["status"], done["goes_on"]) == ("rejected", "daemon")
    session = started["session"] or house.get(f"/api/v1/runs/{started['id']}")["session"]
    house.until(lambda: house.get(f"/api/v1/sessions/{session}")["outcome"] == "finished", "the run has gone on")
    assert "Be brief." in (house.root / "AGENT.md").read_text()
    assert "not today" in json.dumps(house.get(f"/api/v1/sessions/{session}"))


QUESTION = [call("human_ask", question="Which tea?", options=["green", "black"]), "green it is"]


@pytest.mark.parametrize("house", [QUESTION], indirect=True)
def test_a_question_is_answered_by_its_option(house: OpenHouse) -> None:
    started = house.send("POST", "/api/v1/runs", {"task": "which tea do I want?"}, 201)
    over(house, started["id"])
    (asked,) = house.get("/api/v1/questions")["questions"]
    assert asked["options"] == ["green", "black"]

    done = house.send("POST", f"/api/v1/questions/{asked['id']}", {"text": "1"})

    assert done["answer"] == "green"
    session = house.get(f"/api/v1/runs/{started['id']}")["session"]
    house.until(lambda: house.get(f"/api/v1/sessions/{session}")["outcome"] == "finished", "the run has gone on")
    assert house.get("/api/v1/questions")["questions"] == []
    house.send("POST", f"/api/v1/questions/{asked['id']}", {"text": "2"}, 404)
