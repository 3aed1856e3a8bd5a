"""`vault-agent skills …` as a person and a script use it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.context.budget import estimate
from agent.interfaces.cli.main import main
from agent.runs.skill_set import skill_set
from agent.skills.learning.learner import find_suggestions
from agent.skills.learning.offers import SkillOffers
from tests.skills.shelves import text, triggers
from tests.skills.synthetic import history, named
from tests.vaults import git, make_vault, write

Run = Callable[..., dict[str, object]]
TEA = text("tea", triggers("brew|泡茶", more="  context_signals: {keywords: [tea, 茶]}\n"), "# Tea\n\nBoil.")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    folder = make_vault(
        tmp_path, {"skills/tea/SKILL.md": TEA, "skills/bad/SKILL.md": text("bad", triggers("("))}
    ).place.root
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(root: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*args: str, code: int = 0) -> dict[str, object]:
        assert main(["--json", "skills", *args]) == code
        found = json.loads(capsys.readouterr().out)
        assert isinstance(found, dict)
        return found

    return call


def rows(document: dict[str, object], key: str) -> list[dict[str, object]]:
    found = document[key]
    assert isinstance(found, list)
    return found


def test_the_list_has_exactly_what_was_promised(run: Run) -> None:
    found = run("list")
    tea = next(each for each in rows(found, "skills") if each["name"] == "tea")
    assert tea == {"name": "tea", "description": "Does things.", "source": "vault", "path": "skills/tea/SKILL.md",
                   "reviewed": False, "triggers": True}  # fmt: skip
    (bad,) = rows(found, "problems")
    assert bad.keys() == {"path", "line", "reason"} and (bad["path"], bad["line"]) == ("skills/bad/SKILL.md", 6)


def test_a_skill_with_a_long_description_is_used_and_warned_of_wherever_skills_are_checked(
    root: Path, capsys: pytest.CaptureFixture[str], run: Run
) -> None:
    write(root / "skills/long/SKILL.md", text("long", triggers("descale"), description="d" * 1_068))
    found = run("list")
    assert any(each["name"] == "long" for each in rows(found, "skills"))
    assert [each["path"] for each in rows(found, "problems")] == ["skills/bad/SKILL.md"]
    (warning,) = rows(found, "warnings")
    assert (warning["path"], warning["line"]) == ("skills/long/SKILL.md", 3)
    assert run("validate", "long") == {"ok": True, "problems": [], "warnings": [warning]}
    assert run("validate", code=1)["ok"] is False
    run("validate", "nobody", code=2)
    for command, said in (
        (["skills", "list"], "used, with a warning:\nskills/long/SKILL.md:3: description has 1,068 characters"),
        (["skills", "validate", "tea"], "tea is as it should be"),
        (["skills", "validate", "long"], "warning: skills/long/SKILL.md:3: description has 1,068"),
    ):
        assert main(command) == 0
        assert said in capsys.readouterr().out
    run("review", "long")
    assert rows(run("match", "descale it"), "matches")[0]["fate"] == "offered"


@pytest.mark.parametrize("task", ["please brew some tea", "怎么泡茶"])
def test_a_new_skill_is_matched_and_after_a_review_offered(run: Run, task: str) -> None:
    (only,) = rows(run("match", task), "matches")
    assert (only["name"], only["score"], only["fate"]) == ("tea", 0.575, "unreviewed")
    assert only["signals"] == [
        {"type": "intent_pattern", "detail": "brew|泡茶", "weight": 0.5},
        {"type": "context_keyword", "detail": f"1/2 keywords: {'tea' if 'tea' in task else '茶'}", "weight": 0.075},
    ]
    assert [each["name"] for each in rows(run("review"), "unreviewed")] == ["tea"]
    assert run("review", "tea")["reviewed"] is True
    assert rows(run("match", task), "matches")[0]["fate"] == "offered"
    assert rows(run("match", f"{task}, with the skill tea"), "matches")[0]["fate"] == "active"
    run("review", "tea", "--revoke")
    assert rows(run("match", task), "matches")[0]["fate"] == "unreviewed"


def test_a_task_that_nothing_fits_matches_nothing(run: Run) -> None:
    assert run("match", "what is the capital of Portugal?")["matches"] == []


def test_explain_says_every_number(root: Path, capsys: pytest.CaptureFixture[str], run: Run) -> None:
    run("review", "tea")
    for _ in range(5):
        run("feedback", "tea", "helpful")
    assert main(["skills", "match", "brew tea", "--explain", "--tool", "x", "--slot", "a=b"]) == 0
    said = capsys.readouterr().out
    for part in ("tea  0.69  offered", "0.50  intent_pattern: brew|泡茶", "0.07  context_keyword", "× 1.2  feedback",
                 "needed 0.50", "named to the model", "tokens", "nothing speaks for:"):  # fmt: skip
        assert part in said


@pytest.mark.parametrize("window", [2_048, 4_096, 8_192])
def test_match_tells_exactly_what_a_run_is_given_in_this_window(
    root: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    window: int,
) -> None:
    script = {"model": {"window": window, "max_output": 256}, "replies": [{"text": "Done."}]}
    write(tmp_path / "script.json", json.dumps(script))
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "scripted")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(tmp_path / "script.json"))
    (found,) = rows(run("match", "do my weekly-review"), "matches")
    assert main(["--json", "context", "--explain", "do my weekly-review"]) == 0
    document = json.loads(capsys.readouterr().out)
    used = {row["part"]: row["tokens"] for row in document["rows"]}
    assert found["fate"] == {2_048: "offered", 4_096: "offered", 8_192: "active"}[window]
    assert used["skills"] == found["tokens"] if window == 8_192 else 0 < used["skills"] < 30
    assert main(["skills", "match", "do my weekly-review", "--explain"]) == 0
    said = capsys.readouterr().out
    assert f"a window of {window:,} tokens" in said
    assert (f"given whole: {found['tokens']:,} tokens" if window == 8_192 else "does not fit in the") in said


def test_a_skill_that_only_a_tool_brings_is_offered_then(root: Path, run: Run) -> None:
    header = "triggers: {tool_signals: [web_fetch], confidence_threshold: 0.2}"
    write(root / "skills/web-care/SKILL.md", text("web-care", header, "Cite."))
    for name in ("web-care", "tea"):
        run("review", name)
    assert [each["name"] for each in rows(run("match", "brew tea"), "matches")] == ["tea"]
    found = {each["name"]: each["fate"] for each in rows(run("match", "brew tea", "--tool", "web_fetch"), "matches")}
    assert found == {"tea": "offered", "web-care": "offered"}


def test_nothing_is_said_to_be_given_where_skills_are_switched_off(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_SKILLS__AUTO", "false")
    assert main(["skills", "match", "do my weekly review"]) == 0
    assert "runs are given no skills: skills.auto is off" in capsys.readouterr().out


def test_the_steps_of_a_chain_that_are_opened_on_request_are_named(
    root: Path, capsys: pytest.CaptureFixture[str], run: Run
) -> None:
    write(root / "skills/kettle/SKILL.md", text("kettle", "", "word " * 9_000))
    write(root / "skills/party/SKILL.md", text("party", triggers("party") + "chain: [tea, kettle]", "Invite."))
    for name in ("tea", "kettle", "party"):
        run("review", name)
    (party,) = rows(run("match", "a party, by the skill party"), "matches")
    assert (party["fate"], party["on_request"]) == ("active", ["kettle"])
    assert main(["skills", "match", "a party, by the skill party", "--explain"]) == 0
    assert "tokens; the texts of kettle are opened on request" in capsys.readouterr().out


def test_stats_and_feedback(run: Run) -> None:
    assert run("feedback", "tea", "not-helpful")["not_helpful"] == 1
    (tea,) = rows(run("stats", "tea"), "stats")
    assert (tea["name"], tea["uses"], tea["not_helpful"], tea["factor"]) == ("tea", 1, 1, 1.0)
    assert any(each["name"] == "tea" for each in rows(run("stats"), "stats"))


def test_a_word_says_what_follows_and_stats_name_the_runs(
    root: Path, capsys: pytest.CaptureFixture[str], run: Run
) -> None:
    said = []
    for _ in range(5):
        assert main(["skills", "feedback", "tea", "helpful"]) == 0
        said.append(capsys.readouterr().out.strip())
    assert said[0] == "noted: tea was helpful; it counts from 5 uses on, and this makes 1"
    assert said[-1] == "noted: tea was helpful; its score is 1.2 times what its signals give"
    runs = rows(run("stats", "tea"), "runs")
    assert [each["feedback"] for each in runs] == ["helpful"] * 5 and "runs" not in run("stats")
    assert main(["skills", "stats", "tea"]) == 0
    assert f"{runs[-1]['run']}  -  helpful" in capsys.readouterr().out


def test_a_skill_that_is_put_aside_is_told_of_once_and_no_log_line_says_it_again(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "skills/learned/kettle/SKILL.md", text("kettle", triggers("kettle"), "Descale."))
    for _ in range(5):
        assert main(["skills", "feedback", "kettle", "not-helpful"]) == 0
    said = capsys.readouterr()
    assert said.out.count("skills/deprecated/kettle/SKILL.md") == 1 and "vault-agent undo" in said.out
    assert not said.err


def test_learn_says_what_still_waits(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offer = SkillOffers(open_workspace(root).vault).propose(named(find_suggestions(history(1).traces, ())[0]))
    assert main(["skills", "learn"]) == 0
    assert f"{offer.name} waits for your answer in {offer.path}" in capsys.readouterr().out


def test_install_names_what_is_there(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "there/pdf/SKILL.md", text("pdf"))
    error = run("install", str(tmp_path / "there"), "--skill", "docx", code=2)["error"]
    assert isinstance(error, dict) and error["hint"] == "skills there: pdf"


def test_install_then_list(run: Run, tmp_path: Path, root: Path) -> None:
    write(tmp_path / "there/pdf/SKILL.md", text("pdf"))
    found = run("install", str(tmp_path / "there"))
    assert found["installed"] == ["pdf"] and git(root, "rev-parse", "HEAD").strip() == found["commit"]
    assert {each["name"]: each["reviewed"] for each in rows(run("list"), "skills")}["pdf"] is False


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["show", "nobody"], "there is no skill nobody"),
        (["show", "bad"], "cannot be used: the pattern"),
        (["review", "nobody"], "there is no skill"),
        (["match", "x", "--slot", "y"], "is no slot"),
        (["match", " "], "the task is empty"),
        (["install", "nowhere"], "is no folder"),
        (["feedback", "tea", "helpful", "--run", "r9"], "did not use"),
        (["review", "--revoke"], "needs the name"),
        (["review", "deep-research", "--revoke"], "comes with the program"),
        (["show", "kettle"], "was put aside"),
        (["show", "../../kettle"], "there is no skill"),
    ],
)
def test_mistakes_are_said_with_a_hint(root: Path, run: Run, args: list[str], said: str) -> None:
    write(root / "skills/deprecated/kettle/SKILL.md", text("kettle"))
    error = run(*args, code=2)["error"]
    assert isinstance(error, dict) and said in error["message"] and error["hint"]


@pytest.mark.parametrize(("name", "near"), [("weekly", "weekly-review"), ("wekly-review", "weekly-review"), ("q", "")])
def test_a_name_that_is_nearly_right_is_put_right(run: Run, name: str, near: str) -> None:
    error = run("show", name, code=2)["error"]
    assert isinstance(error, dict)
    assert error["hint"] == f"vault-agent skills list{f'; near it: {near}' if near else ''}"


def test_people_see_what_is_wrong_and_what_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skills", "list"]) == 0
    said = capsys.readouterr().out
    assert "skills/bad/SKILL.md:6: the pattern" in said and "vault-agent skills review NAME" in said
    assert main(["skills", "show", "tea"]) == 0
    assert "Boil." in capsys.readouterr().out


def test_status_says_how_many_notes_ask_about_skills(root: Path, capsys: pytest.CaptureFixture[str], run: Run) -> None:
    def told() -> object:
        assert main(["--json", "status"]) == 0
        return json.loads(capsys.readouterr().out)["agent"]["skills"]

    workspace = open_workspace(root)
    assert told() == {"reviews": [], "suggestions": []}
    (review,) = skill_set(workspace, lambda: None, estimate).ask_reviews()
    offer = SkillOffers(workspace.vault).propose(named(find_suggestions(history(1).traces, ())[0]))
    assert told() == {"reviews": [review], "suggestions": [offer.path]}
    assert main(["status"]) == 0
    said = "skills   1 to review: vault-agent skills review; 1 to learn: vault-agent skills suggest\n"
    assert said in capsys.readouterr().out
    run("review", "tea")
    run("learn", "--reject", offer.name)
    assert told() == {"reviews": [], "suggestions": []}
    assert main(["status"]) == 0 and "\nskills " not in capsys.readouterr().out
