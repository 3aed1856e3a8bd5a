"""A state folder that an earlier version has left is taken over at the first opening, and means the same."""

import json
import sqlite3
from datetime import date, datetime
from pathlib import Path

import pytest

from agent.app.notice_ledger import open_ledger
from agent.app.open import open_workspace
from agent.background.active_alerts import load_active_alerts
from agent.background.inbox.queue import request_queue
from agent.background.incoming.queue import MessageQueue
from agent.background.presence_files import order_waits, state_of, take_order
from agent.growth.curiosity.gap import load_looked_ahead
from agent.records.database import NAME
from agent.records.table import Table
from agent.records.takeover import take_over
from agent.runs.job_upkeep import job_ledger
from agent.runs.node_host import NodeState
from agent.runs.registry import run_registry
from agent.runs.upkeep_jobs import Extent, UpkeepDue
from agent.runs.waiting_statements import waiting_conversation
from agent.schedule.first_seen import first_seen_table
from agent.schedule.task_progress import TaskProgress
from agent.skills.variants.trial_shelf import open_trials
from agent.vault.sync.claims import Claims, Machine
from agent.vault.sync.state import unasked_conflicts
from agent.workspace.workspace import Workspace
from tests.stories.agents import furnish
from tests.vaults import write

AT, LATER = "2026-11-29T08:00:00+01:00", "2026-11-29T09:30:00+01:00"
STATE = {
    "state": "working", "since": AT, "reason": "早上", "last_daily_reset": "2026-11-29", "last_wakeup": AT,
    "last_sleep": None, "tasks_completed_today": 2,
    "transitions": [{"at": AT, "before": "sleeping", "after": "waking_up", "reason": "早上"}],
}  # fmt: skip
FILES = {
    "schedule/state.json": STATE,
    "schedule/order.json": {"order": "wake", "reason": "tea"},
    "schedule/changed.json": {"daily": ["a.md", "b.md"]},
    "schedule/first_seen.json": {"brief": {"since": AT, "schedule": ["active", "", "", "cron 0 9 * * *"], "over": []}},
    "schedule/tasks.json": [{"task": "tidy", "at": AT, "tries": 2, "session": "", "waits_for": ""}],
    "schedule/health.json": ["links: # broken"],
    "curiosity/looked_ahead.json": [
        {"key": "k", "at": AT, "task": "a trip", "session": "sessions/x.md", "needs": [
            {"where": "person", "what": "when", "search": "", "question": "When?", "options": ["May", "June"],
             "result": "", "fallback": "May", "is_needed": True, "is_urgent": False}]}],
    "alerts.json": [{"rule": "node_away", "subject": "desk", "number": 6.0, "more": 0.0, "since": AT, "notice": "N1"}],
    "upkeep.json": {"day": "2026-11-29", "entries": 4},
    "node.json": {"looked": AT, "since": AT, "is_connected": True, "permissions": {"camera": "denied"}, "problem": ""},
    "inbox.json": {
        "entries": [{"path": "inbox/tea.md", "blob": "ab", "keys": {"k1": "ab"}, "phase": "submitted", "session": "",
                     "channel": "note", "request": {"text": "Which?", "line": 0, "base": "Which?\n", "key": "k1"}}],
        "answers": [{"path": "inbox/old.md", "key": "k0", "at": 1.5e9, "status": "done", "task": False, "run": "R0",
                     "gone": False}]},
    "incoming/mail.json": {
        "position": "p7", "strangers": 2, "handled": ["m1"], "sessions": {"a1": "sessions/s.md"},
        "waiting": [{"message": {"id": "m2", "sender": "me", "chat": "me", "text": "茶?", "at": AT, "group": False,
                                 "answers": "", "foreign": "", "subject": "Tea", "heading": "Tea", "begins": True},
                     "id": "A2", "phase": "waits", "session": "sessions/t.md", "run": "R2",
                     "waits_for": "approvals/a.md", "text": "",
                     "choices": [{"label": "Yes", "reply": "yes 1"}], "again": False, "tries": 1}]},
    "runs/S1.json": {"id": "S1", "session": "sessions/s.md", "run": "R1", "waits_for": "approvals/a.md",
                     "content": "abc", "parent": ""},
    "claims/0a.json": {"what": "job brief", "machine": {"id": "M1", "name": "desk"}, "token": "T", "oid": "",
                       "since": "2026-11-29 08:00:00+00:00", "until": "2026-11-29 08:10:00+00:00", "seconds": 600.0},
    "unasked-conflicts/0b.json": {"path": "notes/two.md"},
    "skill-trials/tea-1.json": {"skill": "tea", "number": 1, "path": "skills/mutations/tea-1.md", "body": "b",
                                "base": "c", "base_blob": "d", "status": "trial", "kept": "", "planned": "",
                                "planned_status": "trial"},
}  # fmt: skip

RAISED: dict[str, object] = {
    "id": "N1", "step": "raised", "at": AT, "channel": "mail", "listed": [], "decided": "sent", "rule": "urgent",
    "until": None, "figure": 0.0, "limit": 0.0,
    "notice": {"type": "job", "priority": 5, "title": "茶 is ready", "lines": ["drink it"], "subject": "",
               "channel": "", "urgent": True, "decides": "", "due": ""},
}  # fmt: skip
LINES = {
    "notices/ledger.jsonl": "\n".join([
        json.dumps(RAISED), '{"id": "N1", "st', json.dumps({"id": "N1", "step": "begun", "at": AT}),
        json.dumps({"id": "N1", "step": "delivered", "at": LATER, "proof": "mail 7"}), "",
    ]),
    "schedule/occurrences.tsv": "\n".join([
        "2026-11-29T07:00:00+00:00\tbegin\tbrief@2026-11-29T07:00:00Z\t\trun\t\t\t.",
        "2026-11-29T07:01:00+00:00\tdecide\tnight@2026-11-29T02:00:00Z\t2026-11-28T02:00:00+00:00\trun\tmissed\toff\t.",
        "2026-11-29T07:05:00+00:00\tend\tbrief@20",
    ]),
    "schedule/occurrences.looked": json.dumps(
        {"looked": AT, "held": {"night": [["night@2026-11-30T02:00:00Z", "2026-11-30T02:00:00+00:00", "run", 1]]}}
    ) + "     ",
    "schedule/occurrences.lock": "", "notices/ledger.lock": "", "notices/sending.lock": "",
}  # fmt: skip


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A vault with the state of an earlier version."""
    workspace = open_workspace(furnish(tmp_path, monkeypatch.setenv))
    folder = workspace.vault.private_folder
    for name, document in FILES.items():
        write(folder / name, json.dumps(document))
    write(folder / "patterns-looked", "2026-11-28")
    write(folder / "conversations/2026-11-29-茶.txt", f"sessions/2026-11-29-茶.md\n{AT} 2\nR1\nR2")
    write(folder / "runs/S1.lock", "")
    for name, text in LINES.items():
        write(folder / name, text)
    return workspace


def test_every_file_is_a_row_and_means_the_same(left: Workspace) -> None:
    vault, at = left.vault, datetime.fromisoformat(AT)
    state = state_of(vault)
    assert state is not None and (state.state, state.reason, state.last_sleep) == ("working", "早上", None)
    assert state.last_wakeup == at and state.transitions[0].after == "waking_up"
    assert order_waits(vault) and getattr(take_order(vault), "reason", "") == "tea"
    assert Table(vault.records, "changed-notes", dict[str, list[str]]).get() == {"daily": ["a.md", "b.md"]}
    seen = (first_seen_table(vault.records).get() or {})["brief"]
    assert (seen.since, seen.schedule[-1], seen.over) == (at, "cron 0 9 * * *", ())
    assert TaskProgress.load(vault.records).begun["tidy"].tries == 2
    assert Table(vault.records, "health-findings", frozenset[str]).get() == frozenset(("links: # broken",))
    (ahead,) = load_looked_ahead(vault.records)
    assert ahead.needs[0].options == ("May", "June") and ahead.needs[0].is_needed
    (asked,), (answered,) = request_queue(vault).load()
    assert (asked.path, asked.phase, asked.keys) == ("inbox/tea.md", "still", {"k1": "ab"})
    assert asked.request is not None and asked.request.text == "Which?" and answered.run == "R0"
    mail = MessageQueue(vault.records, "mail", str)
    mail.load()
    assert (mail.position, mail.strangers, mail.sessions) == ("p7", 2, {"a1": "sessions/s.md"})
    (message,) = mail.waiting
    assert (message.message.heading, message.message.at, message.phase, message.tries) == ("Tea", at, "waits", 1)
    assert message.choices[0].reply == "yes 1"
    (alert,) = load_active_alerts(vault)
    assert (alert.key, alert.alert.number, alert.since, alert.notice) == (("node_away", "desk"), 6, at, "N1")
    assert Table(vault.records, "patterns-looked", date).get() == date(2026, 11, 28)
    assert UpkeepDue(left).last.get() == Extent("2026-11-29", 4)
    assert getattr(Table(vault.records, "node", NodeState).get(), "permissions", None) == {"camera": "denied"}
    waiting = waiting_conversation(left, "sessions/2026-11-29-茶.md")
    assert waiting is not None and (waiting.heard, waiting.tries, waiting.runs) == (at, 2, ("R1", "R2"))
    (mark,) = run_registry(vault).waiting()
    assert (mark.id, mark.waits_for, mark.job) == ("S1", "approvals/a.md", "")
    (claim,) = Claims(vault, Machine("M1", "desk")).held()
    assert (claim.what, claim.seconds, claim.machine.name) == ("job brief", 600, "desk")
    assert [each.path for each in unasked_conflicts(vault).all()] == ["notes/two.md"]
    assert [each.key for each in open_trials(vault)] == ["tea-1"]


def test_the_lines_of_the_ledgers_are_there(left: Workspace) -> None:
    (receipt,) = open_ledger(left).all()
    assert (receipt.raised.title, receipt.tries, receipt.proof) == ("茶 is ready", 1, "mail 7")
    ledger = job_ledger(left)
    assert ledger.open() == ("brief@2026-11-29T07:00:00Z",) and ledger.has("night@2026-11-28T12:00:00Z")
    assert ledger.looked == datetime.fromisoformat(AT) and [each.count for each in ledger.held["night"]] == [1]


def test_the_files_are_gone_and_what_comes_later_counts(left: Workspace) -> None:
    run_registry(left.vault).drop("S1")
    folder = left.vault.private_folder
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert not names & {*FILES, *LINES, "patterns-looked"} and not [each for each in names if each.startswith("conv")]
    assert "runs/S1.lock" in names and NAME in names
    again = open_workspace(left.vault.place.root).vault
    assert run_registry(again).all() == [] and state_of(again) is not None


def test_who_waited_for_another_process_takes_nothing_over_again(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "records.sqlite", isolation_level=None)
    connection.executescript(
        "CREATE TABLE record (name TEXT, key TEXT, value TEXT, PRIMARY KEY (name, key));"
        "CREATE TABLE line (id INTEGER PRIMARY KEY, name TEXT, value TEXT);"
    )
    for _ in range(2):  # the files were still there when the second one began to wait
        write(tmp_path / "notices/ledger.jsonl", "one\ntwo\n")
        take_over(tmp_path, connection, 1)
    assert [value for (value,) in connection.execute("SELECT value FROM line")] == ["one", "two"]
    connection.close()


@pytest.mark.parametrize("damage", [b"", b"{", b"[3]", b"\xff\xfe", b'{"rule": 1}'])
def test_damaged_files_are_as_good_as_none(left: Workspace, damage: bytes) -> None:
    for name in (*FILES, "patterns-looked"):
        write(left.vault.private_folder / name, damage)
    vault = left.vault
    assert state_of(vault) is None and take_order(vault) is None
    assert load_active_alerts(vault) == () and load_looked_ahead(vault.records) == ()
    assert run_registry(vault).all() == [] and not TaskProgress.load(vault.records).begun
    assert Claims(vault, Machine("M1", "desk")).held() == () and list(open_trials(vault)) == []
    table = first_seen_table(vault.records)
    assert table.get() is None and table.has(), "a plan that was damaged is told from one that was never there"
