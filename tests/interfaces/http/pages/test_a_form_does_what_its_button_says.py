"""The forms of the pages, sent without a browser: what each is sent for is so afterwards."""

from collections.abc import Iterator

import pytest

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.events.notices import NoticeRaised
from agent.vault.change import FORGET, Stamp
from agent.vault.sync.state import sync_state
from agent.workspace.schedule_switch import schedule_switch
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import NOTES

SKILL = "---\nname: offers\ndescription: Compares the offers of craftsmen.\n---\n# Offers\n\nName each price.\n"
JOB = '---\non: {cron: "0 9 * * *"}\ntitle: Brief\n---\nBrief me.\n'
PROFILE = "profile/31-preferences.md"
FORMS = {
    **NOTES,
    "skills/offers/SKILL.md": SKILL,
    "jobs/brief.md": JOB,
    PROFILE: "---\ntitle: Preferences\nlayer: 3\n---\n# Preferences\n\n- likes tea\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("forms"), FORMS) as found:
        yield found


def send(house: OpenHouse, path: str, code: int = 200, /, **fields: str) -> str:
    """The page after a form; `code` is its status once redirects are followed."""
    response = house.client.post(path, data=fields, headers={"Accept": "text/html"}, follow_redirects=True)
    assert response.status_code == code, response.text[:2_000]
    return response.text


def text(house: OpenHouse, path: str) -> str:
    return (house.workspace.vault.read(path) or b"").decode()


def edited(house: OpenHouse, path: str, after: str) -> str:
    """Edit a note by hand, and return the commit before."""
    vault = house.workspace.vault
    before = vault.head or ""
    with vault.transaction("an edit", Stamp("human")) as change:
        change.write(path, vault.read(path), after.encode())
    return before


def test_an_earlier_version_of_a_note_is_restored(house: OpenHouse) -> None:
    path, former = "plan.md", text(house, "plan.md")
    commit = edited(house, path, "# Plan\n\nAll is changed.\n")
    send(house, "/notes/restore", path=path, former=path, commit=commit)
    assert text(house, path) == former
    head = house.workspace.vault.head
    send(house, "/notes/restore", path=path, former=path, commit=commit)
    assert house.workspace.vault.head == head, "what is the same makes no commit"
    send(house, "/notes/restore", 404, path=path, former="never.md", commit=commit)


def test_a_skill_gets_its_earlier_text(house: OpenHouse) -> None:
    path = "skills/offers/SKILL.md"
    edited(house, path, SKILL.replace("each price", "no price"))
    send(house, "/skills/roll-back", 422, name="offers", before="0" * 40)
    assert "no price" in text(house, path)
    commits = house.get("/api/v1/log", path=path)["commits"]
    send(house, "/skills/roll-back", name="offers", before=commits[-1]["commit"])
    assert text(house, path) == SKILL


def test_a_note_is_edited_from_the_version_that_was_seen(house: OpenHouse) -> None:
    vault = house.workspace.vault
    seen = vault.content_id(vault.read(PROFILE) or b"")
    after = text(house, PROFILE).replace("tea", "coffee")
    send(house, "/notes/save", path=PROFILE, base=seen, text=after)
    assert "coffee" in text(house, PROFILE)
    send(house, "/notes/save", 409, path=PROFILE, base=seen, text=after.replace("coffee", "milk"))
    assert "coffee" in text(house, PROFILE)
    send(house, "/notes/save", 404, path="never.md", base=seen, text="x")


def test_a_line_that_is_not_touched_keeps_its_ending(house: OpenHouse) -> None:
    vault = house.workspace.vault
    before = "# Mixed\r\n\r\none\ntwo\r\nthree"
    edited(house, "mixed.md", before)
    seen = vault.content_id(before.encode())
    send(house, "/notes/save", path="mixed.md", base=seen, text=before.replace("\r\n", "\n"))
    assert text(house, "mixed.md") == before, "what is the same is not written"
    said = before.replace("\r\n", "\n").replace("two", "2\n2b").replace("\n", "\r\n")  # as browsers send it
    send(house, "/notes/save", path="mixed.md", base=seen, text=said)
    assert text(house, "mixed.md") == "# Mixed\r\n\r\none\n2\r\n2b\r\nthree"
    edited(house, "latin.md", "")
    with vault.transaction("bytes", Stamp("human")) as change:
        change.write("latin.md", vault.read("latin.md"), b"# caf\xe9\n")
    assert "no form keeps" in send(house, "/notes/save", 422, path="latin.md", base="x", text="# cafe")
    assert vault.read("latin.md") == b"# caf\xe9\n"


def test_one_box_of_several_is_ticked_and_nothing_else_changes(house: OpenHouse) -> None:
    note = (
        "# Boxes\n\n- [ ] call Ana\n- [x] call Ana\n> - [ ] call Ana ^b1\n  1. [ ] 打电话 %%later%% [[plan]]\n\n"
        "```\n- [ ] call Ana\n```\n"
    )
    edited(house, "boxes.md", note)
    send(house, "/notes/tick", path="boxes.md", box="0 x call Ana")
    now = note.replace("- [ ] call Ana\n- [x]", "- [x] call Ana\n- [x]")
    assert text(house, "boxes.md") == now
    head = house.workspace.vault.head
    send(house, "/notes/tick", path="boxes.md", box="0 x call Ana")
    assert house.workspace.vault.head == head, "it was ticked already"
    send(house, "/notes/tick", path="boxes.md", box="1 - call Ana")
    send(house, "/notes/tick", path="boxes.md", box="0 x call Ana ^b1")
    send(house, "/notes/tick", path="boxes.md", box="0 x 打电话 [[plan]]")
    now = (
        now.replace("- [x] call Ana\n>", "- [ ] call Ana\n>")
        .replace("- [ ] call Ana ^b1", "- [x] call Ana ^b1")
        .replace("1. [ ]", "1. [x]")
    )
    assert text(house, "boxes.md") == now
    assert "has changed since you looked" in send(house, "/notes/tick", 422, path="boxes.md", box="2 x call Ana")
    assert text(house, "boxes.md") == now


def test_what_the_program_keeps_is_not_edited_in_a_form(house: OpenHouse) -> None:
    edited(house, "approvals/x.md", "# May I?\n\n- [ ] approve\n")
    send(house, "/notes/tick", 422, path="approvals/x.md", box="0 x approve")
    send(house, "/notes/save", 422, path="approvals/x.md", base="", text="x")
    assert text(house, "approvals/x.md") == "# May I?\n\n- [ ] approve\n"


def test_a_job_is_paused_and_goes_on(house: OpenHouse) -> None:
    send(house, "/jobs/pause", id="brief")
    assert "status: paused" in text(house, "jobs/brief.md")
    send(house, "/jobs/resume", id="brief")
    assert "status: paused" not in text(house, "jobs/brief.md")


def test_the_schedule_is_stopped_and_started(house: OpenHouse) -> None:
    send(house, "/jobs/stop")
    assert not schedule_switch(house.workspace).enabled
    send(house, "/jobs/start")
    assert schedule_switch(house.workspace).enabled


def test_a_task_is_planned_and_deleted(house: OpenHouse) -> None:
    send(house, "/jobs/stop")
    send(house, "/tasks/add", type="explore_topic", title="Green tea")
    (task,) = house.get("/api/proactive/tasks")["tasks"]
    send(house, "/tasks/delete", id=task["id"])
    assert house.get("/api/proactive/tasks")["tasks"] == []
    send(house, "/jobs/start")


def test_a_notice_is_judged(house: OpenHouse) -> None:
    ledger, id = open_ledger(house.workspace), house.workspace.clock.new_id()
    ledger.add(id, NoticeRaised("task_due", 0.8, "Call", (), "call"), NoticeDecision("dropped", "threshold"), "daily")
    send(house, "/today/notice", id=id, reaction="helpful")
    judged = open_ledger(house.workspace).get(id)
    assert judged is not None and judged.reaction == "helpful"


def test_a_change_is_taken_back(house: OpenHouse) -> None:
    before = text(house, "plan.md")
    edited(house, "plan.md", f"{before}\nOne more line.\n")
    send(house, "/today/undo", what=house.workspace.vault.head or "")
    assert text(house, "plan.md") == before


def test_sync_is_paused_and_a_conflict_ended(house: OpenHouse) -> None:
    vault = house.workspace.vault
    send(house, "/sync/pause")
    assert sync_state(vault).is_paused
    send(house, "/sync/resume")
    assert not sync_state(vault).is_paused
    copy = "clash (conflict 2026-11-21 abcd).md"
    edited(house, "clash.md", "# Clash\n\nMine.\n")
    edited(house, copy, "---\nconflict_of: '[[clash]]'\n---\n# Clash\n\nYours.\n")
    (conflict,) = house.get("/api/v1/sync/conflicts")["conflicts"]
    seen = vault.content_id(b"\0".join((conflict["text"].encode(), conflict["copies"][copy].encode())))
    send(house, "/sync/choose", path="clash.md", side="theirs", shown=seen)
    assert "Yours." in text(house, "clash.md") and vault.read(copy) is None


def test_the_page_of_the_day_names_nothing_that_was_forgotten(house: OpenHouse) -> None:
    vault = house.workspace.vault
    with vault.transaction("memory(forget): 1 memory", Stamp("human", tool=FORGET)) as change:
        change.create("entries/2026/11/the-theremin.md", b"gone soon\n")
    with vault.transaction("memory(forget): 1 memory", Stamp("human", tool=FORGET)) as change:
        change.delete("entries/2026/11/the-theremin.md", b"gone soon\n")
    page = house.client.get("/today", headers={"Accept": "text/html"}).text
    assert "theremin" not in page and "/changes/" in page
