"""Two daemons on two clones of one remote: each occurrence of a job runs once, whatever each of them sees first."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.schedule.history import RAN, HistoryRow, parse_history
from agent.vault.sync.turns import take_turn
from agent.workspace.machine import open_claims
from tests.daemon.house import House, living
from tests.daemon.pair import Pair, make_pair, until
from tests.jobs.town import QUICK, MovingClock, job
from tests.stories.agents import script
from tests.vaults import git, write

MINUTE = "{cron: '* * * * *'}"


def pair_of(folder: Path, monkeypatch: pytest.MonkeyPatch, **notes: str) -> Pair:
    said = script(folder / "script.json", "Good morning.", after="Good morning.")
    settings = {**QUICK, "VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(said)}
    for key, value in settings.items():
        monkeypatch.setenv(key, value)
    pair = make_pair(folder, monkeypatch.setenv)
    for name, text in notes.items():
        write(pair.phone / f"jobs/{name}.md", text)
    pair.arrive([], {f"jobs/{name}.md": text for name, text in notes.items()})
    for machine in pair.machines:  # both have said yes to what came from the phone
        machine.vault.provenance.look()
        for name in notes:
            machine.vault.provenance.has_seen(f"jobs/{name}.md")
    return pair


@contextmanager
def both(pair: Pair, clocks: Sequence[MovingClock]) -> Iterator[tuple[House, ...]]:
    with ExitStack() as stack:
        houses = []
        for number, clock in enumerate(clocks):
            pair.as_machine(number)
            houses.append(stack.enter_context(living(pair.roots[number], clock=clock)))
        yield tuple(houses)


def rows(root: Path, name: str) -> tuple[HistoryRow, ...]:
    path = root / f"jobs/history/{name}.md"
    return parse_history(path.read_bytes()) if path.exists() else ()


def planned(root: Path, name: str) -> Counter[str]:
    return Counter(each.planned.isoformat() for each in rows(root, name) if each.outcome in RAN)


def is_idle(houses: Sequence[House]) -> bool:
    return all(not house.parts.jobs.runs and not house.working for house in houses)


def have_looked(houses: Sequence[House], at: datetime) -> bool:
    return all(looked is not None and looked >= at for looked in (house.parts.jobs.ledger.looked for house in houses))


def race(pair: Pair, name: str, minutes: int, seed: int) -> None:
    """Let so many minutes come, each seen by both machines at moments of their own."""
    chance = random.Random(seed)
    clocks = MovingClock(), MovingClock()
    with both(pair, clocks) as houses:
        for house in houses:
            house.step()
        for _ in range(minutes):
            for clock in clocks:
                clock.pass_by(minutes=1)
            for house in chance.sample(houses, 2):
                for _ in range(chance.randrange(3)):
                    house.step()
            now = max(clock.now() for clock in clocks)
            until(houses, lambda at=now: have_looked(houses, at) and is_idle(houses), "both have looked", 120)  # type: ignore[misc]
    pair.sync()
    for root in pair.roots:
        found = planned(root, name)
        assert len(found) >= minutes and set(found.values()) == {1}, found
        assert {each.outcome for each in rows(root, name)} <= {*RAN, "skipped"}  # on a busy machine a run is overtaken
    machines = {each.machine for each in rows(pair.roots[0], name)}
    assert machines <= {"anna", "bert"}


def test_six_occurrences_run_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    race(pair_of(tmp_path, monkeypatch, often=job(MINUTE, "Say hello.")), "often", 6, 1)


@pytest.mark.chaos
@pytest.mark.parametrize("part", range(10))
def test_five_hundred_occurrences_run_once_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    race(pair_of(tmp_path, monkeypatch, often=job(MINUTE, "Say hello.")), "often", 50, 100 + part)


def test_while_the_remote_is_away_only_the_named_machine_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(tmp_path, monkeypatch, mine=job(MINUTE, "Say hello.", run_on="anna"))
    clocks = MovingClock(), MovingClock()
    with both(pair, clocks) as houses:
        for house in houses:
            house.step()
        for number in range(8):
            if number == 4:
                pair.remote.rename(pair.remote.with_suffix(".away"))
            for clock in clocks:
                clock.pass_by(minutes=1)
            until(houses, lambda n=number: len(rows(pair.roots[0], "mine")) > n, "it has run", 120)  # type: ignore[misc]
        until(houses, lambda: is_idle(houses), "both are idle")
        pair.remote.with_suffix(".away").rename(pair.remote)
    pair.sync()
    found = rows(pair.roots[1], "mine")
    ran = planned(pair.roots[1], "mine")
    assert len(found) >= 8 and set(ran.values()) == {1} and {each.machine for each in found} == {"anna"}


def test_without_a_remote_nobody_runs_what_has_no_machine_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(tmp_path, monkeypatch, often=job("{cron: '0 9 * * *'}", "Say hello."))
    clocks = MovingClock(), MovingClock()
    with both(pair, clocks) as houses:
        for house in houses:
            house.step()
        pair.remote.rename(pair.remote.with_suffix(".away"))
        for clock in clocks:
            clock.pass_by(minutes=1)
        until(houses, lambda: all("often: " in house.parts.jobs.problem for house in houses), "both say why it waits")
        for clock in clocks:
            clock.pass_by(minutes=11)
        until(houses, lambda: all(rows(root, "often") for root in pair.roots), "both write it down")
        assert [each.outcome for root in pair.roots for each in rows(root, "often")] == ["skipped"] * 2
        pair.remote.with_suffix(".away").rename(pair.remote)


def test_what_waits_for_its_turn_is_not_skipped_where_the_other_machine_ran_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(tmp_path, monkeypatch, often=job(MINUTE, "Say hello."))
    pair.as_machine(0)
    turn = take_turn(open_claims(open_workspace(pair.roots[0])), "job often")
    clock = MovingClock()
    pair.as_machine(1)
    with living(pair.roots[1], clock=clock) as house:
        house.step()
        for count in (1, 2):
            clock.pass_by(minutes=1)
            waits = lambda n=count: sum(bool(each.waits_for_turn) for each in house.parts.jobs.runs) >= n  # noqa: E731
            house.until(waits, f"{count} wait for the turn", 60)
        runs = [each.occurrence.at for each in house.parts.jobs.runs]
        assert rows(pair.roots[1], "often") == ()
        ran = [HistoryRow(at, "done", at, 1.0, machine="anna") for at in runs]
        note = "---\ntype: job_history\njob: often\n---\n" + "".join(f"{row.line}\n" for row in ran)
        write(pair.roots[0] / "jobs/history/often.md", note)
        git(pair.roots[0], "add", "-A")
        git(pair.roots[0], "commit", "-q", "-m", "the other machine has run them")
        until([house], turn.hand_over, "the turn is handed over")
        clock.pass_by(seconds=30)
        until([house], lambda: not house.parts.jobs.runs, "nothing waits", 60)
        clock.pass_by(minutes=3)
        house.for_a_while(2)
    pair.sync()
    found = Counter(each.planned.timestamp() for each in rows(pair.roots[1], "often"))
    assert [found[at.timestamp()] for at in runs] == [1] * len(runs), rows(pair.roots[1], "often")


def test_what_one_machine_slept_through_and_the_other_ran_was_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(tmp_path, monkeypatch, often=job("{cron: '0 9 * * *'}", "Say hello."))
    clocks = MovingClock(), MovingClock()
    with both(pair, clocks) as houses:
        for house in houses:
            house.step()
        clocks[0].pass_by(minutes=2)
        until(houses, lambda: bool(rows(pair.roots[0], "often")), "one has run it", 60)
        clocks[1].sleep_for(hours=2)
        until(houses, lambda: bool(rows(pair.roots[1], "often")), "the other has heard of it", 60)
        clocks[1].pass_by(minutes=3)
        until(houses, lambda: houses[1].parts.jobs.ledger.has("often@2026-11-23T09:00:00Z"), "it is decided", 60)
    pair.sync()
    assert [each.outcome for each in rows(pair.roots[1], "often")] == ["done"]


def test_a_tick_starts_a_job_on_the_machine_on_which_it_was_made_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticked = "{change: {path: list.md, task: ticked, quiet_seconds: 0.2}}"
    pair = pair_of(tmp_path, monkeypatch, done=job(ticked, "Say what comes next."))
    pair.arrive([], {"list.md": "- [ ] one\n- [ ] two\n"})
    with both(pair, (MovingClock(), MovingClock())) as houses:
        for house in houses:
            house.step()
        pair.arrive(houses, {"list.md": "- [x] one\n- [ ] two\n"})
        for house in houses:
            house.for_a_while(2)
        assert [rows(root, "done") for root in pair.roots] == [(), ()], "the phone made it"
        write(pair.roots[0] / "list.md", "- [x] one\n- [x] two\n")
        until(houses, lambda: len(rows(pair.roots[0], "done")) == 1 and is_idle(houses), "it runs at once", 60)
        pair.sync()
        for house in houses:
            house.for_a_while(2)
    pair.sync()
    assert [row.machine for row in rows(pair.roots[1], "done")] == ["anna"]
