"""`vault-agent skills trials`: what a person sees of variants, and how they stop one or have one proposed."""

from pathlib import Path

import pytest

from tests.growth.mutations.lab import SKILL, TEXT, WELL, Lab, answer, lab
from tests.stories.agents import document, script, settings, tell


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return lab(tmp_path, monkeypatch, WELL)


def test_the_list_shows_variants_with_their_counts_and_what_could_be_tried(made: Lab, tmp_path: Path) -> None:
    ready = document(made.root, settings(tmp_path), "skills", "trials", "list")
    assert (ready["trials"], ready["ready"]) == ([], ["plan-week"])
    made.propose()
    made.rated(True, "1 original")
    made.rated(False, "1 variant")
    (found,) = document(made.root, settings(tmp_path), "skills", "trials", "list")["trials"]
    assert (found["skill"], found["number"], found["status"]) == ("plan-week", 1, "trial")
    assert found["original"] == {"uses": 1, "successes": 1} and found["variant"] == {"uses": 1, "successes": 0}
    told = tell(made.root, settings(tmp_path), "skills", "trials", "list")
    assert "plan-week, variant 1: on trial" in told
    assert "(a variant is on trial)" in tell(made.root, settings(tmp_path), "skills", "list")
    assert "the skill succeeded in 1 of 1 uses, the variant in 0 of 1; 10 of each decide" in told


def test_a_variant_is_shown_with_its_note(made: Lab, tmp_path: Path) -> None:
    made.propose()
    told = tell(made.root, settings(tmp_path), "skills", "trials", "show", "plan-week-1")
    assert "Take the best 3 points instead of 5." in told and "One may be missed." in told
    (found,) = document(made.root, settings(tmp_path), "skills", "trials", "show", "plan-week")["trials"]
    assert "best 3" in found["body"]
    wrong = document(made.root, settings(tmp_path), "skills", "trials", "show", "tea", code=2)
    assert wrong["error"]["message"] == "there is no variant tea"


def test_a_trial_is_stopped(made: Lab, tmp_path: Path) -> None:
    made.propose()
    told = tell(made.root, settings(tmp_path), "skills", "trials", "stop", "plan-week")
    assert "plan-week: variant 1 is not tried any more" in told
    assert made.trial().status == "stopped" and made.text(SKILL) == TEXT
    assert "You stopped it." in made.text("skills/mutations/plan-week-1.md")
    tell(made.root, settings(tmp_path), "skills", "trials", "stop", "plan-week", code=2)


def test_a_variant_is_proposed_on_request_with_the_vaults_own_model(made: Lab, tmp_path: Path) -> None:
    said = script(tmp_path / "script.json", answer())
    with_model = settings(tmp_path, said)
    found = document(made.root, with_model, "skills", "trials", "propose", "plan-week")
    assert found["paths"] == ["skills/mutations/plan-week-1.md"]
    assert made.trial().status == "trial"
    spent = document(made.root, with_model, "status")["agent"]["growth"]
    assert spent["calls"] == 1


def test_what_may_not_be_tried_is_said(made: Lab, tmp_path: Path) -> None:
    off = {**settings(tmp_path), "VAULT_AGENT_GROWTH__ENABLED": "off"}
    assert "growth is off" in tell(made.root, off, "skills", "trials", "list")
    refused = document(made.root, off, "skills", "trials", "propose", code=2)
    assert refused["error"]["hint"] == "vault-agent config set growth.mutations.mode usual"
    for _ in range(9):
        made.use(False, session=True)
    wrong = document(made.root, settings(tmp_path), "skills", "trials", "propose", "plan-week", code=2)
    assert "it succeeded in" in wrong["error"]["message"]


def test_it_speaks_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(tmp_path, monkeypatch, WELL, language="zh")
    made.propose()
    chinese = {**settings(tmp_path), "VAULT_AGENT_VAULT__LANGUAGE": "zh", "LANG": "zh_CN.UTF-8"}
    assert "plan-week，变体 1：试用中" in tell(made.root, chinese, "skills", "trials", "list")
