"""Of the daemons of two machines with one vault, one does a task, once; what came of it reaches the other."""

from pathlib import Path

import pytest

from agent.schedule.task_notes import load_tasks
from tests.daemon.house import BRISK
from tests.daemon.pair import are_quiet, make_pair, until
from tests.vaults import git


def over(root: Path) -> list[Path]:
    return sorted((root / "tasks/done").glob("*/*.md"))


def test_six_tasks_that_both_have_are_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {**BRISK, "VAULT_AGENT_MEMORY__LIFECYCLE": "off"}.items():
        monkeypatch.setenv(key, value)
    pair = make_pair(tmp_path, monkeypatch.setenv)
    with pair.living() as houses:
        done: list[str] = []
        for house in houses:
            house.parts.tasks.on_end = lambda ended: done.append(ended.task.name)
        names = [f"green {number}" for number in range(6)]
        words = "---\ntype: task\ntask_type: explore_topic\n---\n# Green tea {name}\n"
        pair.arrive(houses, {f"tasks/{name}.md": words.format(name=name) for name in names})
        until(
            houses,
            lambda: are_quiet(houses) and any(len(over(root)) == 6 for root in pair.roots),
            "all are done",
            120,
        )
    pair.sync()
    assert sorted(done) == sorted(names), "each once"
    assert pair.machines[0].vault.head == pair.machines[1].vault.head
    for machine in pair.machines:
        shelf = load_tasks(machine.vault)
        assert not shelf.waiting and len(shelf.done) == 6
    subjects = git(pair.roots[0], "log", "--format=%s").splitlines()
    assert sum(each.startswith("task(explore-topic)") for each in subjects) == 6
    assert pair.claims() == []
