"""`notify` puts a notice through attention; `notices` and `why` say what became of it."""

import re
from typing import cast

import pytest

from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run

KEYS = ["id", "at", "type", "priority", "decision", "rule", "channel", "proof", "title"]


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T12:00")


def listed(run: Run) -> list[dict[str, object]]:
    return cast(list[dict[str, object]], run("notices", "list")["notices"])


def test_the_list_has_every_decision_with_its_rule_and_proof(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("notify", "the parcel has come", "--type", "parcel", "--priority", "0.9")
    run("notify", "the parcel has come", "--type", "parcel", "--priority", "0.9")
    run("notify", "small", "--priority", "0.2")
    run("notify", "soon")
    run("notify", "fire", "--urgent")
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T21:00")
    run("notify", "later", "--urgent")
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T23:00")
    run("notify", "late")
    found = listed(run)
    assert all(list(each) == KEYS for each in found)
    assert [(each["decision"], each["rule"]) for each in found] == [
        ("sent", "allowed"),
        ("dropped", "duplicate"),
        ("digest", "threshold"),
        ("sent", "allowed"),  # it was held, and the next command that could has sent it
        ("sent", "urgent"),
        ("sent", "urgent"),
        ("held", "quiet"),
    ]
    assert (found[0]["type"], found[0]["priority"], found[0]["channel"]) == ("parcel", 0.9, "daily")
    assert str(found[0]["proof"]).startswith("daily/2026-11-24.md ") and found[1]["proof"] is None


def test_why_is_a_sentence_with_figures(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run("config", "set", "attention.interval_minutes", "0")
    run("config", "set", "attention.daily", "1")
    for title in ("one", "two"):
        run("notify", title)
    full = str(listed(run)[1]["id"])
    assert main(["why", full[-6:].lower()]) == 0
    assert "left for the digest: 1 of 1 were sent today" in capsys.readouterr().out
    assert main(["why", str(listed(run)[0]["id"])]) == 0
    printed = capsys.readouterr().out
    assert "sent: it is number 1 of at most 1 today" in printed
    assert re.search(r"by daily at 2026-11-24 12:\d\d: daily/2026-11-24\.md", printed)


def test_three_dismissals_are_said_to_halve_the_type(run: Run) -> None:
    run("config", "set", "attention.interval_minutes", "0")
    for title in ("one", "two", "three"):
        run("notify", title, "--type", "tide")
    ids = [str(each["id"]) for each in listed(run)]
    assert [run("notices", "dismiss", each)["halved"] for each in ids] == [False, False, True]
    run("notify", "four", "--type", "tide")
    assert listed(run)[-1]["rule"] == "dismissals"
    assert run("notices", "helpful", ids[0])["halved"] is False


def test_status_names_what_is_held(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("status")["notices"] == {"held": 0, "undelivered": 0, "problem": ""}
    monkeypatch.setenv("VAULT_AGENT_CLOCK__START", "2026-11-24T23:00")
    run("notify", "late")
    assert run("status")["notices"] == {"held": 1, "undelivered": 0, "problem": ""}


@pytest.mark.parametrize(
    "words", [["  "], ["x", "--type", "two words"], ["x", "--type", "digest"], ["x", "--channel", "pigeon"]]
)
def test_what_cannot_be_said_is_refused(run: Run, words: list[str]) -> None:
    assert run("notify", *words, code=2)["ok"] is False
    assert listed(run) == []
