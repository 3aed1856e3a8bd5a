"""What an earlier version has asked, each kind with a record of its own form, is decided as it would have been then."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent.asking.answers import unanswered
from agent.asking.proposal import Proposal, ProposalKind
from agent.asking.records import proposals_of, save
from agent.vault.glance import has_asked
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import make_vault, write

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
ID = "01HX0000000000000000000001"
NOTE = "---\nid: {id}\ntype: x\nstatus: pending\nskill: tea\n---\n# May I?\n\n- [ ] approve\n- [ ] reject\n"
PATH = "approvals/a.md"
CALL: dict[str, object] = {
    "id": ID,
    "hash": "h",
    "path": PATH,
    "tool": "shell",
    "run": "R",
    "session": "s.md",
    "call": "c",
    "shown": "{}",
    "created": str(NOW),
    "expires": str(NOW + timedelta(days=9)),
    "bases": {"b.md": "1"},
    "status": "approved",
    "reason": "yes",
    "paths": ["b.md", "c.md"],
    "why": "Why.",
    "change": "+x",
}
REVIEW: dict[str, object] = {"path": PATH, "digest": "d"}
OFFER: dict[str, object] = {
    "key": "k",
    "id": ID,
    "path": PATH,
    "name": "tea",
    "skill": "skills/learned/tea/SKILL.md",
    "tools": ["a", "b"],
    "support": 3,
    "draft": "# Tea\n",
    "base": None,
    "status": "pending",
    "reason": "",
}
ARRIVAL: dict[str, object] = {"subject": "AGENT.md", "content": "b", "path": PATH, "id": ID, "status": "pending"}
TEXT: dict[str, object] = {
    "kind": "rule",
    "name": "Tea",
    "question": "May I?",
    "notes": [{"path": "r.md", "text": "x", "base": None}],
    "path": PATH,
    "id": ID,
    "created": str(NOW),
    "facts": {"rule": "x"},
    "actor": "job:a",
    "status": "rejected",
    "reason": "no",
    "is_taken": True,
}
CHOICE: dict[str, object] = {
    "subject": "conflict",
    "name": "tea.md",
    "matter": "tea (conflict).md",
    "path": PATH,
    "id": ID,
    "choices": {"this one": "ours"},
    "theirs": "",
    "paths": [],
    "status": "answered",
    "answer": "ours",
}
KINDS: dict[ProposalKind, tuple[str, dict[str, object]]] = {
    "call": ("approvals", CALL),
    "skill_review": ("reviewed/asked", REVIEW),
    "skill_offer": ("skill-suggestions", OFFER),
    "arrived_note": ("arrivals", ARRIVAL | {"kind": "note"}),
    "arrived_files": ("arrivals", ARRIVAL | {"kind": "files"}),
    "remote": ("arrivals", ARRIVAL | {"kind": "remote"}),
    "rule": ("proposals", TEXT),
    "conflict": ("sync-questions", CHOICE),
}


def asked_before(tmp_path: Path, kind: ProposalKind, note: str = NOTE.format(id=ID)) -> tuple[Vault, Proposal]:
    """A vault with a record of an earlier version, and that record as it is read now."""
    folder, row = KINDS[kind]
    vault = make_vault(tmp_path, {PATH: note}, clock=FakeClock(NOW))
    file = vault.private_folder / folder / "key.json"
    write(file, json.dumps(row))
    assert has_asked(vault, kind)
    (found,) = proposals_of(vault, kind)
    assert not file.exists() and has_asked(vault, kind) and proposals_of(vault, kind) == (found,)
    return vault, found


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("call", "rule", "conflict")])
def test_what_waits_goes_on_waiting_and_is_found_by_its_key(tmp_path: Path, kind: ProposalKind) -> None:
    note = NOTE.replace("id: {id}\n", "") if kind == "skill_review" else NOTE.format(id=ID)
    vault, found = asked_before(tmp_path, kind, note)
    assert unanswered(vault, kind) == (found,) and found.question == "May I?"
    assert (found.key or "key") == "key" and found.name in ("tea", "AGENT.md")
    write(vault.place.root / PATH, note.replace("[ ] approve", "[x] approve"))
    assert unanswered(vault, kind) == ()


def test_a_call_keeps_all_that_its_yes_is_for(tmp_path: Path) -> None:
    _, found = asked_before(tmp_path, "call")
    assert (found.status, found.reason, found.key, found.subject, found.shown) == ("approved", "yes", "key", "h", "{}")
    assert found.bases == {"b.md": "1", "c.md": ""} and (found.why, found.change) == ("Why.", "+x")
    assert (found.name, found.run, found.session, found.call) == ("shell", "R", "s.md", "c")
    assert found.expires == NOW + timedelta(days=9)


def test_a_decided_proposal_stays_decided(tmp_path: Path) -> None:
    _, found = asked_before(tmp_path, "rule")
    assert (found.status, found.is_taken, found.actor, found.facts) == ("rejected", True, "job:a", {"rule": "x"})


def test_an_answer_about_versions_of_a_note_keeps_its_meaning(tmp_path: Path) -> None:
    _, found = asked_before(tmp_path, "conflict")
    assert (found.status, found.reason, found.choices) == ("approved", "ours", {"this one": "ours"})
    assert (found.name, found.subject, found.path, found.id) == ("tea.md", "tea (conflict).md", PATH, ID)


def test_a_refused_review_is_not_asked_again(tmp_path: Path) -> None:
    vault, found = asked_before(tmp_path, "skill_review", NOTE.format(id=ID).replace("pending", "rejected"))
    assert found.status == "rejected" and found.subject == "d" and unanswered(vault, "skill_review") == ()


def test_a_newer_record_is_not_replaced_and_a_broken_one_decides_nothing(tmp_path: Path) -> None:
    vault, found = asked_before(tmp_path, "skill_offer")
    folder, row = KINDS["skill_offer"]
    write(vault.private_folder / folder / "other.json", json.dumps(row | {"status": "accepted"}))
    write(vault.private_folder / folder / "broken.json", json.dumps({"status": "accepted"}))
    assert proposals_of(vault, "skill_offer") == (found,)
    save(vault, found)
    assert list((vault.private_folder / folder).iterdir()) == []
