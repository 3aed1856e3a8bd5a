"""Jobs, skills, notices, inbox, sync, graph, metrics, search, log and undo over HTTP."""

import json
import threading
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from agent.app.notices import take_in
from agent.events.notices import NoticeRaised
from agent.interfaces.cli.main import main
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import NOTES
from tests.vaults import git, head

JOB = "---\nid: brief\ntype: job\non: {cron: '0 8 * * *'}\nstatus: paused\ntask: health_check\n---\n# Brief\n"
ALSO = {
    "jobs/brief.md": JOB,
    "jobs/broken.md": "---\nid: broken\ntype: job\non: {cron: 'x'}\n---\n# Broken\n",
    "garden/roses.md": "# Roses\n\nSee [[tea]] and [the plan](../plan.md), not [[nothing]].\n",
    "inbox/ask.md": "---\nstatus: answered\n---\n\nWhat is green tea?\n",
    "clash.md": "one\n",
    "clash (conflict 2026-11-01 120000 abc).md": "---\nconflict_of: '[[clash]]'\n---\n\ntwo\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house"), {**NOTES, **ALSO}) as found:
        yield found


def test_search_gives_what_the_command_line_gives(house: OpenHouse, capsys: pytest.CaptureFixture[str]) -> None:
    house.until(lambda: "tea.md" in house.live.index.known(), "the index has the notes")
    over_http = house.get("/api/v1/search", query="green tea", explain=True)

    assert main(["--vault", str(house.root), "--json", "search", "green tea", "--explain"]) == 0
    printed = json.loads(capsys.readouterr().out)
    printed.pop("ok")
    assert over_http["hits"][0]["path"] == "tea.md"
    assert printed["hits"][0]["path"] == "tea.md"
    assert over_http.keys() == printed.keys()
    assert over_http["hits"][0].keys() == printed["hits"][0].keys()


def test_search_in_the_past_and_recall(house: OpenHouse) -> None:
    found = house.get("/api/v1/search", query="tea", as_of=head(house.root))
    assert "tea.md" in [hit["path"] for hit in found["hits"]]
    pieces = house.get("/api/v1/recall", task="green tea in the morning", all=True)["pieces"]
    assert "tea.md" in [each["path"] for each in pieces]
    house.get("/api/v1/search", 422, query="")
    assert "commit" in house.get("/api/v1/search", 422, query="tea", as_of="nonsense")["detail"]


def test_a_text_is_remembered_once(house: OpenHouse) -> None:
    made = house.send("POST", "/api/v1/remember", {"text": "Anna likes green tea."}, 201)
    assert "Anna likes green tea." in (house.root / made["path"]).read_text()
    again = house.send("POST", "/api/v1/remember", {"text": "Anna likes green tea."})
    assert (again["known"], again["path"]) == (True, made["path"])


def test_a_change_is_logged_compared_and_undone(house: OpenHouse) -> None:
    made = house.put("new.md", "# New\n", 201, If_None_Match="*").json()["commit"]

    (entry,) = house.get("/api/v1/log", path="new.md")["commits"]
    assert (entry["commit"], entry["actor"], entry["files"][0]["path"]) == (made, "http", "new.md")
    assert house.get("/api/v1/log", actor="http", limit=1)["commits"][0]["commit"] == made
    assert "+# New" in house.get("/api/v1/diff", commit=made)["files"][0]["patch"]

    would = house.send("POST", "/api/v1/undo", {"commits": [made], "dry_run": True})
    assert (would["commit"], would["files"][0]["path"]) == (None, "new.md")
    undone = house.send("POST", "/api/v1/undo", {"commits": [made]})
    assert not (house.root / "new.md").exists()
    assert "Vault-Actor: http" in git(house.root, "log", "-1", "--format=%B", undone["commit"])
    house.send("POST", "/api/v1/undo", {}, 422)
    house.send("POST", "/api/v1/undo", {"commits": ["f" * 40]}, 422)
    house.send("POST", "/api/v1/undo", {"run": "of nobody"}, 404)
    assert "404" in house.get("/openapi.json")["paths"]["/api/v1/undo"]["post"]["responses"]


def test_the_log_comes_in_pages(house: OpenHouse) -> None:
    for number in range(5):
        house.send("POST", "/api/v1/notes/pages.md/append", {"text": str(number)})
    seen: list[str] = []
    cursor = ""
    while len(seen) < 5:
        page = house.get("/api/v1/log", path="pages.md", limit=2, cursor=cursor)
        seen += [each["commit"] for each in page["commits"]]
        cursor = page["next_cursor"]
        house.send("POST", "/api/v1/notes/other.md/append", {"text": "a commit in between"})

    assert cursor is None
    assert seen == git(house.root, "log", "--format=%H", "--", "pages.md").split()


def test_jobs_are_shown_run_and_switched(house: OpenHouse) -> None:
    listed = house.get("/api/v1/jobs")
    assert [each["id"] for each in listed["jobs"]] == ["brief"]
    assert [each["path"] for each in listed["problems"]] == ["jobs/broken.md"]
    assert len(house.get("/api/v1/jobs/brief")["occurrences"]) == 10
    house.get("/api/v1/jobs/none", 404)

    assert house.send("POST", "/api/v1/jobs/brief/resume")["a_day"]["runs"] == 1
    assert "status: active" in (house.root / "jobs/brief.md").read_text()
    house.send("POST", "/api/v1/jobs/brief/pause")
    assert house.get("/api/v1/jobs/brief")["status"] == "paused"
    house.send("POST", "/api/v1/jobs/brief/run", code=202)
    house.until(lambda: bool(house.get("/api/v1/jobs/brief/history")["runs"]), "the job has run")
    assert house.get("/api/v1/jobs/brief/history")["runs"][0]["outcome"] in {"done", "nothing"}


def test_a_new_job_is_shown_first_and_needs_a_yes(house: OpenHouse) -> None:
    wish = {"text": "every weekday at 9 brief me"}
    shown = house.send("POST", "/api/v1/jobs", wish, 200)
    assert (len(shown["occurrences"]), shown["written"]) == (3, False)

    problem = house.send("POST", "/api/v1/jobs", {**wish, "write": True}, 403)

    assert problem["type"] == "NeedsApproval"
    assert not (house.root / shown["job"]["path"]).exists()
    house.send("POST", "/api/v1/jobs", {"text": "nonsense"}, 422)


def test_skills_are_listed_matched_and_trusted_by_people_only(house: OpenHouse) -> None:
    listed = house.get("/api/v1/skills")["skills"]
    name = listed[0]["name"]
    assert house.get(f"/api/v1/skills/{name}")["body"]
    assert "matches" in house.get("/api/v1/skills/match", task="plan my week")
    house.get("/api/v1/skills/none-of-them", 404)
    house.send("POST", f"/api/v1/skills/{name}/revoke", code=422)
    text = "---\nname: mine\ndescription: Mine.\n---\nDo it.\n"
    assert house.put("skills/mine/SKILL.md", text, 403, If_None_Match="*").json()["type"] == "NeedsApproval"


def test_notices_are_listed_and_judged(house: OpenHouse) -> None:
    take_in(house.workspace)(NoticeRaised("job_failed", 0.9, "The brief has failed"), "")

    house.until(lambda: bool(house.get("/api/v1/notices")["notices"]), "the notice is there")
    notice = house.get("/api/v1/notices")["notices"][0]
    assert notice["title"] == "The brief has failed"
    assert house.get(f"/api/v1/notices/{notice['id']}")["type"] == "job_failed"
    assert house.send("POST", f"/api/v1/notices/{notice['id']}/react", {"reaction": "helpful"})["halved"] is False
    house.get("/api/v1/notices/none-of-them", 404)


def test_the_inbox_the_graph_and_the_metrics(house: OpenHouse) -> None:
    requests = {each["path"]: each["status"] for each in house.get("/api/v1/inbox")["requests"]}
    assert requests["inbox/ask.md"] == "answered"
    graph = house.get("/api/v1/graph")
    assert {"source": "garden/roses.md", "target": "tea.md"} in graph["edges"]
    assert {"source": "garden/roses.md", "target": "plan.md"} in graph["edges"]
    assert [each["path"] for each in house.get("/api/v1/graph", folder="garden")["nodes"]] == ["garden/roses.md"]
    assert house.get("/api/v1/graph", limit=1)["left_out"] == len(graph["nodes"]) - 1

    text = house.client.get("/api/v1/metrics").text
    assert [
        each.name
        for each in text_string_to_metric_families(text)
        if each.name == "vault_agent_memory_longterm_facts_count"
    ]


def test_a_request_is_left_and_answered_in_its_note(house: OpenHouse) -> None:
    left = house.send("POST", "/api/v1/inbox", {"text": "When is tea drunk?"}, 201, Idempotency_Key="once")
    again = house.send("POST", "/api/v1/inbox", {"text": "When is tea drunk?"}, 201, Idempotency_Key="once")
    assert left == again and left["commit"] and left["answered_by"] == "daemon"
    assert left["path"].startswith("inbox/") and left["path"].endswith(" when-is-tea-drunk.md")
    made = git(house.root, "log", "--format=%H %(trailers:key=Vault-Actor,valueonly)", "--", left["path"]).split()
    assert made[-2:] == [left["commit"], "http"]
    house.until(lambda: "%% vault-agent: answer" in (house.root / left["path"]).read_text(), "it is answered")
    asked = next(each for each in house.get("/api/v1/inbox")["requests"] if each["path"] == left["path"])
    assert asked["status"] == "done" and asked["open"] == []
    other = house.send("POST", "/api/v1/inbox", {"text": "When is tea drunk?"}, 201)
    assert other["path"] != left["path"]
    for body in ({}, {"text": ""}, {"text": " \n"}, {"text": "x", "path": "inbox/x.md"}):
        house.send("POST", "/api/v1/inbox", body, 422)


def test_a_conflict_is_seen_and_ended(house: OpenHouse) -> None:
    assert house.get("/api/v1/sync")["remotes"] == []
    assert house.send("PUT", "/api/v1/sync", {"paused": True}) == {"paused": True}
    assert house.get("/api/v1/sync")["paused"] is True
    house.send("PUT", "/api/v1/sync", {"paused": False})

    (conflict,) = house.get("/api/v1/sync/conflicts")["conflicts"]
    assert (conflict["path"], conflict["text"]) == ("clash.md", "one\n")
    done = house.send("POST", "/api/v1/sync/conflicts", {"path": "clash.md", "side": "theirs"})
    assert (house.root / "clash.md").read_text().strip() == "two"
    assert house.get("/api/v1/sync/conflicts")["conflicts"] == []
    house.send("POST", "/api/v1/undo", {"commits": [done["commit"]]})
    house.send("POST", "/api/v1/sync/conflicts", {"path": "tea.md", "side": "ours"}, 422)


def test_a_reader_hears_what_came_since_it_read(house: OpenHouse) -> None:
    with house.client.stream("GET", "/api/v1/events") as response:
        lines = response.iter_lines()
        since = json.loads([next(lines), next(lines)][1].removeprefix("data: "))["last"]
        (house.root / "tea.md").write_text("# Tea\n\nGreen tea.\n")
        while "tea.md" not in next(lines):
            pass
    with house.client.stream("GET", f"/api/v1/events?after={since}") as response:
        lines = response.iter_lines()
        while "tea.md" not in next(lines):
            pass
    assert house.client.get("/api/v1/events?after=-1").status_code == 422


def test_an_edit_is_an_event(house: OpenHouse) -> None:
    seen: list[str] = []
    with house.client.stream("GET", "/api/v1/events") as response:
        lines = response.iter_lines()
        assert next(lines) == "event: hello"
        threading.Thread(target=lambda: (house.root / "tea.md").write_text("# Tea\n\nBlack tea.\n")).start()
        for line in lines:
            seen.append(line)
            if line.startswith("data") and "tea.md" in line:
                break

    assert seen[-3].startswith("event: Note")
    assert seen[-2].startswith("id: ")
