"""Of the daemons of two machines with one vault, one answers a request, once."""

import random
from pathlib import Path

import pytest

from agent.background.inbox.queue import request_queue
from agent.loop.session import sessions
from agent.vault.sync.claims import SLACK
from agent.vault.sync.turns import LEASE
from tests.daemon.house import BRISK, HASTE
from tests.daemon.pair import Pair, answers, are_quiet, make_pair, until
from tests.stories.agents import script
from tests.vaults import write

QUICK = {
    **BRISK,
    "VAULT_AGENT_INBOX__QUIET_SECONDS": "0.3",
    "VAULT_AGENT_MEMORY__LIFECYCLE": "off",
    "VAULT_AGENT_LLM__WIRE": "scripted",
}


def pair_with(folder: Path, monkeypatch: pytest.MonkeyPatch, *replies: object) -> Pair:
    said = script(folder / "script.json", *(replies or ["Well done."]))
    for key, value in {**QUICK, "VAULT_AGENT_LLM__SCRIPT": str(said)}.items():
        monkeypatch.setenv(key, value)
    return make_pair(folder, monkeypatch.setenv)


def _request(note: str, chance: random.Random) -> tuple[str, str]:
    if chance.random() < 0.5:
        return f"inbox/{note}.md", f"Which tea goes with {note}?\n"
    return f"lists/{note}.md", f"# Tea\n\n- [ ] @agent buy tea for {note}\n"


def race(pair: Pair, notes: list[str], chance: random.Random, ahead: float = 0.0) -> None:
    with pair.living(ahead=ahead) as houses:
        asked = dict(_request(each, chance) for each in notes)
        pair.arrive(houses, asked)
        for house in houses:
            for _ in range(chance.randrange(4)):
                house.step()
        until(
            houses,
            lambda: are_quiet(houses) and all(any(answers(root, each) for root in pair.roots) for each in asked),
            "all are answered",
            600,
        )
    pair.sync()
    assert pair.machines[0].vault.head == pair.machines[1].vault.head
    found = {each: {answers(root, each) for root in pair.roots} for each in asked}
    assert set(map(frozenset, found.values())) == {frozenset({1})}, found
    assert pair.claims() == []


def test_ten_requests_that_both_have_are_answered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = pair_with(tmp_path, monkeypatch)
    race(pair, [f"cake {number}" for number in range(10)], random.Random(1))
    assert len(sessions(pair.machines[0].vault)) == 10, "no run was in vain"


@pytest.mark.chaos
@pytest.mark.parametrize("part", range(10))
def test_two_hundred_requests_that_both_have_are_answered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    pair = pair_with(tmp_path, monkeypatch)
    for batch in (2 * part, 2 * part + 1):
        race(pair, [f"cake {batch} {number}" for number in range(10)], random.Random(batch))
    assert len(sessions(pair.machines[0].vault)) == 20, "no run was in vain"


def test_with_clocks_that_differ_by_a_minute_each_is_answered_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_with(tmp_path, monkeypatch, {"text": "Well done.", "seconds": HASTE})
    race(pair, ["cake", "scone"], random.Random(1), -60.0)
    assert len(sessions(pair.machines[0].vault)) == 2, "no run was in vain"


def test_what_a_clock_that_is_a_day_ahead_takes_over_its_first_owner_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_with(tmp_path, monkeypatch, {"text": "Slowly.", "seconds": 8 * HASTE})
    with pair.living(ahead=86_400.0) as houses:
        pair.arrive(houses, {"inbox/tea.md": "Which tea?\n"})
        until(houses[:1], lambda: len(houses[0].working) == 1 and bool(pair.claims()), "the first has begun")
        before = pair.claims()
        until(houses, lambda: are_quiet(houses), "both have ended", 120)
    pair.sync()
    assert len(before) == 1 and len(sessions(pair.machines[0].vault)) == 2, "it was not taken over"
    assert [answers(root, "inbox/tea.md") for root in pair.roots] == [1, 1]


@pytest.mark.parametrize("is_killed", [True, False])
def test_what_a_machine_that_died_has_begun_another_one_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_killed: bool
) -> None:
    pair = pair_with(tmp_path, monkeypatch, {"text": "Slowly.", "seconds": 6 * HASTE})
    with pair.living(0) as (house,):
        pair.arrive([house], {"inbox/tea.md": "Which tea?\n"})
        until([house], lambda: len(house.working) == 1 and any((house.root / "sessions").rglob("*.md")), "it has begun")
        kept = request_queue(house.workspace.vault).table.get()
        assert kept is not None
        assert len(pair.claims()) == 1
    if is_killed:
        request_queue(house.workspace.vault).table.put(kept)
    with pair.living(1) as (house,):
        write(house.root / "inbox/tea.md", "Which tea?\n\n")
        until([house], lambda: any(each.turns_missed for each in house.parts.inbox.entries.values()), "it waits")
    with pair.living(1, ahead=LEASE + SLACK + 60) as (house,):
        until([house], lambda: answers(house.root, "inbox/tea.md") == 1 and are_quiet([house]), "it is answered")
    with pair.living(0) as (house,):
        until([house], lambda: are_quiet([house]), "the first one does not go on")
    pair.sync()
    assert [answers(root, "inbox/tea.md") for root in pair.roots] == [1, 1]
    assert (pair.roots[0] / "inbox/tea.md").read_text("utf-8").count("Slowly.") == 1


def test_while_the_remote_is_away_requests_wait_and_status_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_with(tmp_path, monkeypatch)
    with pair.living() as houses:
        pair.arrive((), {"inbox/tea.md": "Which tea?\n"})
        away = pair.remote.rename(tmp_path / "away.git")
        until(houses, lambda: all("sync.run_on" in each.parts.inbox.problem for each in houses), "it is said")
        assert [answers(root, "inbox/tea.md") for root in pair.roots] == [0, 0]
        away.rename(pair.remote)
        until(houses, lambda: are_quiet(houses), "nothing is under way")
        assert [each.parts.inbox.problem for each in houses] == ["", ""]
    pair.sync()
    assert [answers(root, "inbox/tea.md") for root in pair.roots] == [1, 1]


def test_while_the_remote_is_away_the_named_machine_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = pair_with(tmp_path, monkeypatch)
    monkeypatch.setenv("VAULT_AGENT_SYNC__RUN_ON", "bert")
    with pair.living() as houses:
        pair.arrive((), {"inbox/tea.md": "Which tea?\n"})
        away = pair.remote.rename(tmp_path / "away.git")
        until(houses, lambda: answers(pair.roots[1], "inbox/tea.md") == 1, "the named one answers")
        assert answers(pair.roots[0], "inbox/tea.md") == 0
    away.rename(pair.remote)
    pair.sync()
    assert [answers(root, "inbox/tea.md") for root in pair.roots] == [1, 1]
