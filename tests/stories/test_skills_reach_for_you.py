"""Skills as their owner meets them: written, asked for in two languages, seen, rated, corrected, learned from work."""

import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.context.budget import estimate
from agent.events.runs import Speaker
from agent.git.runner import Git, GitObject
from agent.interfaces.cli.main import main
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.markdown.checkbox_decision import APPROVE
from agent.runs.skill_feedback import gather_feedback
from agent.runs.skill_set import skill_set
from agent.vault.history.find import commits
from agent.workspace.search_index import open_index
from tests.stories.agents import PROJECT, call, furnish, only, script, ticked
from tests.vaults import git, with_parts, write

TEA = """---
name: tea-round
description: Notes down who wants which tea.
triggers:
  intent_patterns: ["tea round|who wants tea", "谁要.*茶"]
allowed-tools: vault_read vault_append search_vault
---
# Tea round

1. Look up who is there with `search_vault`.
2. Write one line for each into `tea-list.md`.
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault on a machine of its own, with one skill that its owner has written and looked at."""
    made = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json"))
    write(made / "skills/tea-round/SKILL.md", TEA)
    assert main(["--vault", str(made), "skills", "review", "tea-round"]) == 0
    return made


def say(root: Path, *replies: object) -> None:
    """What the model is to say in the next run."""
    script(root.parent / "script.json", *replies)


def ask(root: Path, task: str) -> Ended:
    workspace = open_workspace(root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        return agent.ask(RunRequest(task, Speaker("cli")))


def told(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["--vault", str(root), "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("task", ["Time for a tea round", "今天谁要喝茶？"])
def test_a_skill_is_offered_opened_followed_and_rated_by_a_tick(
    root: Path, capsys: pytest.CaptureFixture[str], task: str
) -> None:
    (match,) = told(root, capsys, "skills", "match", task)["matches"]
    assert (match["name"], match["score"], match["fate"]) == ("tea-round", 0.5, "offered")
    explained = told(root, capsys, "context", "--explain", task)
    assert {"vault_append", "vault_write"} <= set(explained["tools"]), "a skill changes nothing of what is described"

    refused = call("vault_write", path="plan.md", content="gone")
    opens = call("skills", action="show", name="tea-round")
    say(root, opens, refused, call("vault_append", path="tea-list.md", text="- Anna: green"), "Done.")
    ended = ask(root, task)
    session = root / ended.session
    text = session.read_text("utf-8")
    assert "what does: `tea-round`" in text and "## Skill: tea-round" in text
    assert "Only these tools may be called: human_ask, search_vault, skills, vault_append, vault_read" in text
    assert "vault_write is not among the tools that this run's skills allow" in text
    assert "gone" not in (root / "plan.md").read_text("utf-8")
    made = commits(open_workspace(root).vault, run=ended.run)
    (paths,) = [{change.path for change in each.files} for each in made]
    assert {"skills/history/tea-round.md", "tea-list.md"} <= paths and any(path.startswith("daily/") for path in paths)

    session.write_text(ticked(text, "tea-round: helpful"), "utf-8")
    (counts,) = told(root, capsys, "skills", "stats", "tea-round")["stats"]
    assert (counts["uses"], counts["helpful"], counts["not_helpful"]) == (1, 1, 0)
    (again,) = told(root, capsys, "skills", "stats", "tea-round")["stats"]
    assert again == counts, "a tick counts once"


def test_a_skill_comes_as_a_skill_and_never_as_a_note_like_others(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "skills/picnics/SKILL.md", TEA.replace("tea-round", "picnics").replace("tea round", "picnic round"))
    write(root / "parks.md", "A picnic round in the park, and who wants which tea there.\n")
    assert len(skill_set(open_workspace(root), lambda: None, estimate).ask_reviews()) == 1
    told(root, capsys, "reindex")
    receipts = told(root, capsys, "context", "--explain", "who wants tea, by tea-round and picnics?")["receipts"]
    paths = [receipt["path"] for receipt in receipts if receipt["path"].startswith(("skills/", "approvals/"))]
    assert paths == ["skills/tea-round/SKILL.md"] and "parks.md" in {receipt["path"] for receipt in receipts}


def test_the_skill_that_the_documentation_writes_from_scratch_works(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(
        r"```markdown\n(---\nname: (\S+)\n.*?)```", (PROJECT / "agent/docs/en/skills.md").read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    write(root / f"skills/{found[2]}/SKILL.md", found[1])
    assert told(root, capsys, "skills", "list")["problems"] == []
    told(root, capsys, "skills", "review", found[2])
    for task in ("What should I pack for Porto?", "请给我列一个打包清单"):
        assert [each["name"] for each in told(root, capsys, "skills", "match", task)["matches"]] == [found[2]]


def test_a_run_keeps_to_the_tools_of_its_skill(root: Path) -> None:
    say(root, call("vault_write", path="elsewhere.md", content="x"), call("vault_read", path="tea.md"), "Done.")
    ended = ask(root, "tea-round please")
    assert not (root / "elsewhere.md").exists() and ended.outcome == "finished"
    assert "vault_write is not among the tools" in (root / ended.session).read_text("utf-8")
    say(root, call("vault_write", path="elsewhere.md", content="x"), "Done.")
    ask(root, "write something elsewhere")
    assert (root / "elsewhere.md").exists()


@pytest.mark.parametrize(
    ("edit", "corrected"),
    [(("- Anna: green", "- Anna: black"), 1), (("- Anna: green", "- Anna: green\n- Bo: milk"), 0)],
)
def test_correcting_what_a_run_has_written_counts_against_its_skill_and_adding_to_it_does_not(
    root: Path, capsys: pytest.CaptureFixture[str], edit: tuple[str, str], corrected: int
) -> None:
    say(root, call("vault_append", path="tea-list.md", text="- Anna: green"), "Done.")
    ask(root, "tea-round please")
    note = root / "tea-list.md"
    note.write_text(note.read_text().replace(*edit))
    assert main(["--vault", str(root), "commit"]) == 0
    (counts,) = told(root, capsys, "skills", "stats", "tea-round")["stats"]
    assert counts["corrected"] == corrected


class Counted(Git):
    """The git of a vault, with the objects that it was asked for."""

    asked: list[str]

    def objects(self, names: Sequence[str]) -> list[GitObject | None]:
        self.asked += names
        return super().objects(names)


def test_each_version_of_a_note_is_read_once_however_many_runs_have_written_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = root / "tea-list.md"
    for name in ("Anna", "Bo", "Cleo", "Dan"):
        say(root, call("vault_append", path="tea-list.md", text=f"- {name}: green"), "Done.")
        ask(root, "tea-round please")
    for name in ("Anna", "Cleo"):
        note.write_text(note.read_text().replace(f"{name}: green", f"{name}: black"))
        assert main(["--vault", str(root), "commit"]) == 0
    workspace = open_workspace(root)
    counted = Counted(workspace.vault.git.gitdir, workspace.vault.git.worktree)
    counted.asked = []
    uses = gather_feedback(replace(workspace, vault=with_parts(workspace.vault, git=counted)), ["tea-round"])
    assert [use.feedback for use in uses] == ["corrected", "corrected"]
    made = git(root, "rev-list", "HEAD", "--", "tea-list.md").split()
    versions = [git(root, "rev-parse", f"{each}:tea-list.md").strip() for each in made]
    assert [counted.asked.count(each) for each in versions] == [1] * 6, "four appends and two edits"


def test_a_skill_whose_text_was_approved_needs_no_second_yes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "---\nname: packing\ndescription: Makes a packing list.\n---\nSocks first.\n"
    say(root, call("vault_write", path="skills/packing/SKILL.md", content=text), "It is there.")
    ended = ask(root, "Write down how we pack as a skill")
    assert ended.outcome == "needs_approval" and not (root / "skills/packing").exists()
    note = only(list((root / "approvals").glob("*.md")))
    note.write_text(ticked(note.read_text("utf-8"), APPROVE), "utf-8")
    workspace = open_workspace(root)
    with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as agent:
        assert agent.resume(ended.session).outcome == "finished"
    listed = {each["name"]: each["reviewed"] for each in told(root, capsys, "skills", "list")["skills"]}
    assert listed["packing"]
    write(root / "skills/packing/scripts/run.sh", "echo")
    listed = {each["name"]: each["reviewed"] for each in told(root, capsys, "skills", "list")["skills"]}
    assert not listed["packing"], "what was not in the approval is not trusted"


TRIP_BUDGET = """---
name: trip-budget
description: Works out the budget of a trip. Use when a trip budget is wanted.
triggers:
  - trip budget
---
1. `search_vault` for the place, then `vault_read` the plan.
2. `vault_append` the line to `budget.md`.
"""


def test_work_that_came_back_is_offered_learned_after_a_yes_and_followed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for city in ("Lisbon", "Porto", "Faro"):
        say(
            root,
            {"when": "Answer with the whole text of the skill", "text": TRIP_BUDGET},
            call("search_vault", query=f"{city} budget"),
            call("vault_read", path="plan.md"),
            call("vault_append", path="budget.md", text=f"- {city}"),
            f"The trip budget for {city} is in budget.md.",
        )
        assert ask(root, f"Work out the trip budget for {city}").outcome == "finished"
    note = only(list((root / "approvals").glob("*-skill-*.md")))
    waiting = told(root, capsys, "skills", "suggest")["waiting"]
    assert [each["tools"] for each in waiting] == [["search_vault", "vault_read", "vault_append"]]
    assert not (root / "skills/learned").exists(), "nothing goes live unseen"

    text = note.read_text("utf-8")
    assert text.count("[[sessions/") >= 3, "each run that is told of is linked"
    note.write_text(ticked(text, APPROVE), "utf-8")
    (decided,) = told(root, capsys, "skills", "learn")["decided"]
    assert decided["status"] == "accepted"
    name = decided["name"]
    listed = {each["name"]: each for each in told(root, capsys, "skills", "list")["skills"]}
    assert listed[name]["source"] == "learned" and listed[name]["reviewed"]

    say(root, "I know how.")
    ended = ask(root, "Work out the trip budget for Braga")
    assert f"what does: `{name}`" in (root / ended.session).read_text("utf-8")
    assert told(root, capsys, "skills", "suggest")["more"] == []
