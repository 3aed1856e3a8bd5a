"""Three days with the daemon: the history has what the person asked for and did, and little besides."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.memory import daily
from agent.vault.waiting import waiting_notes
from tests.daemon.house import House
from tests.growth.reflections.desk import DAY, FEEDBACK, JUDGES, says
from tests.jobs.town import Town, found, job
from tests.vaults import git, write

ME = Speaker("cli")
FACT = """[{"do": "add", "number": 1, "quote": "my sister Vera lives in Lyon", "kind": "person",
"text": "My sister Vera lives in Lyon.", "keywords": ["family"]}]"""
WORDS = """[{"part": "open", "text": "It is to be looked up in the plan.", "from": ["K1"], "quote": "Vera"},
{"part": "done", "text": "The 40 pots were sold.", "from": ["K1"], "quote": "Vera"}]"""
DAYS, MOST = 3, 3
"""The days, and the most commits of a day that nobody has asked for."""


@dataclass(frozen=True)
class Made:
    """One commit."""

    day: str
    subject: str
    author: str
    run: str


def history(root: Path, since: str) -> list[Made]:
    trailer = "%(trailers:key=Vault-Run,valueonly,separator=%x20)"
    rows = git(root, "log", "--reverse", f"--format=%as%x1f%s%x1f%an%x1f{trailer}", f"{since}..").splitlines()
    return [Made(*(each.strip() for each in row.split("\x1f"))) for row in rows]


def is_asked_for(made: Made) -> bool:
    """True for a person's edit, and for what came of a request or of a job of theirs."""
    return made.author == "Anna" or made.subject.startswith(("session: ", "job(done): "))


def until(town: Town, house: House, hour: int, minute: int = 0) -> None:
    """Let it be this time of the day, and the daemon do what is due."""
    now = town.clock.now()
    town.clock.pass_by(seconds=(now.replace(hour=hour, minute=minute, second=0) - now).total_seconds())
    house.for_a_while(3)


def ask(town: Town, house: House, words: str) -> None:
    with opened_runs(town.workspace) as runs:
        runs.ask(RunRequest(words, ME))
    house.for_a_while(1)


def test_three_days_are_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_REFLECTION__DEPTH", "all")
    town = found(
        tmp_path,
        monkeypatch.setenv,
        news=job(text="Say what is new."),
        plants=job('{cron: "0 17 * * *"}', "Remind me of the plants.", remind="true"),
        often=job('{cron: "0 9-21 * * *"}', "What is new in the notes?", cooldown_seconds=12 * 3600),
    )
    monkeypatch.delenv("VAULT_AGENT_MEMORY__LIFECYCLE")
    prompts = {"You keep the memory of one person": FACT, "It is evening": WORDS}
    told = (*map(says, (JUDGES, DAY, FEEDBACK)), *(says(*each) for each in prompts.items()))
    town.says(*told, after="It is in the plan.")
    before, begun = git(town.root, "rev-parse", "HEAD").strip(), town.clock.now().date()
    with town.daemon() as house:
        house.for_a_while(3)
        for day in range(DAYS):
            until(town, house, 9, 5)
            ask(town, house, f"Note that my sister Vera lives in Lyon, on day {day}. Where is the tea?")
            until(town, house, 12)
            write(town.root / "plan.md", f"# Plan\n\n- buy tea on day {day}\n")
            house.until(lambda: "plan.md" not in git(town.root, "status", "--porcelain"), "the edit is committed")
            until(town, house, 15)
            ask(town, house, f"Read the plan of day {day}")
            until(town, house, 17, 5)
            until(town, house, 21, 30)
            until(town, house, 22, 5)
            town.clock.pass_by(minutes=20)
            house.until(lambda: not waiting_notes(town.workspace.vault), "the evening is over")
            town.clock.sleep_for(hours=10)
            house.for_a_while(2)
    made = history(town.root, before)
    assert max(Counter(each.run for each in made if each.run).values()) == 1, "a run is one commit"
    unasked = Counter(each.day for each in made if not is_asked_for(each))
    rest = [f"{each.day} {each.subject}" for each in made if not is_asked_for(each)]
    assert max(unasked.values()) <= MOST, rest
    days = [begun + timedelta(days=number) for number in range(DAYS)]
    for date in days:
        of_day = [each for each in made if each.day == date.isoformat()]
        assert len(of_day) - unasked[date.isoformat()] >= 5, "what was asked for is there"
        note = (town.root / f"daily/{date}.md").read_text("utf-8")
        words = daily.summary_of(note) or ""
        assert "- Open: It is to be looked up in the plan. [[sessions/" in words, words
        assert "40" not in words, "nothing of what the model was not told"
        assert " × " not in note and "tool call" not in note, "how it was done is no part of a person's day"
        skipped = [each for each in town.rows("often") if each.planned.date() == date and each.outcome == "skipped"]
        assert skipped and all(each.reason for each in skipped), "each with its reason"
