"""`/api/proactive` over a real daemon: its state, its tasks, what wakes it."""

from collections.abc import Iterator

import pytest

from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import NOTES
from tests.vaults import git

WAKE = "---\nid: wake-morning\ntype: job\non: {cron: '0 9 * * *'}\nstatus: active\npriority: 7\n---\n# Morning\n"
WORK = "---\nid: brief\ntype: job\non: {cron: '0 8 * * *'}\nstatus: paused\n---\n# Brief\n\nBrief me.\n"
P = "/api/proactive"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    notes = {**NOTES, "jobs/wake-morning.md": WAKE, "jobs/brief.md": WORK}
    with open_house(tmp_path_factory.mktemp("house"), notes) as found:
        yield found


def test_it_wakes_and_sleeps(house: OpenHouse) -> None:
    house.send("POST", f"{P}/wake", {"reason": "tea is ready"})  # answered after two seconds at the latest
    house.until(lambda: house.get(f"{P}/status")["state"] in {"awake", "working"}, "it is awake")
    woken = house.get(f"{P}/status")
    assert woken["transitions"][0]["reason"] == "tea is ready"
    assert woken["last_wakeup"]

    house.send("POST", f"{P}/sleep")
    house.send("POST", f"{P}/wake")
    house.send("POST", f"{P}/sleep")
    house.until(lambda: house.get(f"{P}/status")["state"] == "sleeping", "it sleeps")


def test_a_task_is_planned_shown_and_cancelled(house: OpenHouse) -> None:
    house.send("POST", f"{P}/stop")
    wish = {"type": "explore_topic", "title": "green tea", "description": "where it grows", "priority": 7}
    made = house.send("POST", f"{P}/tasks", wish, 201)
    assert {name: made[name] for name in wish} == wish
    assert made["status"] == "pending"
    assert house.send("POST", f"{P}/tasks", wish, 200)["id"] == made["id"]
    assert [each["id"] for each in house.get(f"{P}/tasks")["tasks"]] == [made["id"]]
    assert house.get(f"{P}/tasks/{made['id']}")["title"] == "green tea"
    assert (house.root / made["path"]).exists()
    assert house.get(f"{P}/tasks/history")["tasks"] == []

    over = house.send("DELETE", f"{P}/tasks/{made['id']}")
    assert over == {"id": made["id"], "title": "green tea", "status": "cancelled"}

    assert house.get(f"{P}/tasks")["tasks"] == []
    assert [each["status"] for each in house.get(f"{P}/tasks/history")["tasks"]] == ["cancelled"]
    house.send("DELETE", f"{P}/tasks/{made['id']}", code=404)
    house.get(f"{P}/tasks/none-of-these", 404)
    house.send("POST", f"{P}/tasks", {"type": "nonsense", "title": "x"}, 422)
    house.send("POST", f"{P}/start")


def test_a_task_is_done_at_once(house: OpenHouse) -> None:
    made = house.send("POST", f"{P}/actions/run-task", {"type": "upkeep"}, 202)

    house.until(lambda: house.get(f"{P}/tasks/{made['id']}")["status"] == "completed", "the task is done")
    house.until(lambda: house.get(f"{P}/status")["tasks_completed_today"] >= 1, "the task is counted")
    assert "upkeep" in [each["type"] for each in house.get(f"{P}/task-types")["types"]]


def test_stopped_it_begins_nothing(house: OpenHouse) -> None:
    assert house.send("POST", f"{P}/stop")["running"] is False
    assert house.send("POST", f"{P}/start")["running"] is True
    assert "enabled: true" in house.workspace.directories.settings_of(house.workspace.vault.id).read_text()


def test_triggers_are_jobs(house: OpenHouse) -> None:
    found = {each["id"]: each for each in house.get(f"{P}/triggers")["triggers"]}
    assert found["wake-morning"]["type"] == "periodic"
    assert (found["wake-morning"]["enabled"], found["brief"]["enabled"]) == (True, False)
    assert found["brief"]["reason"] == "Brief me."

    wish = {"type": "periodic", "name": "Tea", "interval_seconds": 7200, "priority": 3, "reason": "time for tea"}
    made = house.send("POST", f"{P}/triggers", wish, 201)
    assert {name: made[name] for name in wish} == wish
    note = (house.root / made["metadata"]["path"]).read_text()
    assert "every: 7200" in note
    assert "Vault-Actor: http" in git(house.root, "log", "-1", "--format=%B", "--", made["metadata"]["path"])
    changed = house.send(
        "PUT", f"{P}/triggers/{made['id']}", {"cron": "0 7 * * *", "enabled": False, "reason": "later"}
    )
    assert (changed["enabled"], changed["reason"], changed["metadata"]["on"]) == (False, "later", ["cron 0 7 * * *"])
    house.send("DELETE", f"{P}/triggers/{made['id']}")
    assert not (house.root / made["metadata"]["path"]).exists()
    house.send("DELETE", f"{P}/triggers/{made['id']}", code=404)


def test_each_type_of_trigger_can_be_made(house: OpenHouse) -> None:
    house.send("POST", f"{P}/stop")
    task = house.send("POST", f"{P}/tasks", {"type": "explore_topic", "title": "oolong", "priority": 8}, 201)
    wishes = [
        {"type": "scheduled", "scheduled_time": "2099-01-01T09:00:00Z"},
        {"type": "periodic", "cron": "0 7 * * *"},
        {"type": "task_due", "task": task["id"], "scheduled_time": "2099-05-01T09:00:00Z"},
        {"type": "new_data", "paths": ["projects/**"], "count": 3},
        {"type": "system", "event": "run.ended"},
        {"type": "user_request"},
    ]
    made = [house.send("POST", f"{P}/triggers", {"name": f"tea {n}", **each}, 201) for n, each in enumerate(wishes)]
    assert [each["type"] for each in made] == [each["type"] for each in wishes]
    listed = {each["id"]: each["type"] for each in house.get(f"{P}/triggers")["triggers"]}
    assert listed.items() >= {each["id"]: each["type"] for each in made[:-1]}.items()
    due = house.get(f"{P}/tasks/{task['id']}")
    assert (due["status"], due["scheduled_time"][:10], due["priority"]) == ("scheduled", "2099-05-01", 8)
    assert "count: 3" in (house.root / made[3]["metadata"]["path"]).read_text()
    for each in (made[0], made[1], made[3], made[4]):
        house.send("DELETE", f"{P}/triggers/{each['id']}")
    house.send("DELETE", f"{P}/tasks/{task['id']}")
    house.send("POST", f"{P}/start")


def test_a_task_comes_again_knows_its_context_and_gets_another_time(house: OpenHouse) -> None:
    house.send("POST", f"{P}/stop")
    first = house.send("POST", f"{P}/tasks", {"type": "explore_topic", "title": "sencha"}, 201)
    wish = {
        "type": "explore_topic",
        "title": "matcha",
        "context": "for Mara",
        "recurring": True,
        "recurrence_interval": 86_400,
        "dependencies": [first["id"]],
    }
    made = house.send("POST", f"{P}/tasks", wish, 201)
    assert {name: made[name] for name in wish} == wish and made["needs"] == [first["id"]]
    at = f"{P}/tasks/{made['id']}"
    changed = house.send("PUT", at, {"scheduled_time": "2099-01-01T09:00:00Z", "priority": 9})
    assert (changed["status"], changed["priority"], changed["context"]) == ("scheduled", 9, "for Mara")
    assert house.send("PUT", at, {"at_once": True})["scheduled_time"] is None
    house.send("PUT", at, {"at_once": True, "scheduled_time": "2099-01-01T09:00:00Z"}, 422)
    house.send("PUT", f"{P}/tasks/none", {"priority": 1}, 404)
    for name in ("none", "sencha"):
        house.send("POST", f"{P}/tasks", {**wish, "title": "x", "dependencies": [name]}, 422)
    house.send("POST", f"{P}/tasks", {**wish, "title": "x", "recurrence_interval": None}, 422)
    for each in (first, made):
        house.send("DELETE", f"{P}/tasks/{each['id']}")
    house.send("POST", f"{P}/start")


def test_a_job_that_does_work_is_only_switched(house: OpenHouse) -> None:
    assert house.send("PUT", f"{P}/triggers/brief", {"enabled": True})["enabled"] is True
    assert house.send("PUT", f"{P}/triggers/brief", {"enabled": False})["enabled"] is False

    assert "only enabled" in house.send("PUT", f"{P}/triggers/brief", {"cron": "* * * * *"}, 422)["hint"]
    house.send("DELETE", f"{P}/triggers/brief", code=422)
    assert (house.root / "jobs/brief.md").exists()


@pytest.mark.parametrize(
    "wish",
    [
        {"type": "scheduled", "name": "x"},
        {"type": "periodic", "name": "x", "cron": "nonsense"},
        {"type": "periodic", "name": "x", "cron": "* * * * *", "interval_seconds": 60},
        {"type": "scheduled", "name": "x", "scheduled_time": "2001-01-01T00:00:00Z"},
        {"type": "new_data", "name": "x"},
        {"type": "system", "name": "x", "event": "tick"},
        {"type": "task_due", "name": "x", "scheduled_time": "2099-01-01T00:00:00Z"},
    ],
)
def test_a_trigger_without_a_right_time_is_refused(house: OpenHouse, wish: dict[str, object]) -> None:
    house.send("POST", f"{P}/triggers", wish, 422)


def test_the_schedule_is_read_and_changed(house: OpenHouse) -> None:
    assert house.get(f"{P}/schedule")["morning_wakeup"] == "09:00"
    assert house.get(f"{P}/schedule")["evening_wakeup"] is None

    wish = {"morning_wakeup": "08:15", "evening_wakeup": "21:30", "active_days": [0, 1, 2, 3, 4]}
    assert house.send("PUT", f"{P}/schedule", wish) == {"enabled": True, **wish}
    assert "15 8 * * *" in (house.root / "jobs/wake-morning.md").read_text()
    assert house.get(f"{P}/schedule")["active_days"] == [0, 1, 2, 3, 4]
    house.send("PUT", f"{P}/schedule", {"morning_wakeup": "25:00"}, 422)
    house.send("PUT", f"{P}/schedule", {"active_days": [7]}, 422)
