"""Questions about the profile come as notices with buttons, and a reply by code answers them like a tick does."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.asking.replies import parse_decision
from agent.background.decision_notices import waiting_notices
from agent.events.notices import NoticeRaised
from agent.runs.replies import carry_out, choices_of
from agent.runs.status import agent_status
from agent.runs.upkeep_jobs import Upkeeper, is_profile_answered, profile_questions
from agent.workspace.workspace import Workspace
from tests.interfaces.cli.conftest import Run
from tests.vaults import write


def asked(run: Run, root: Path, *statements: str) -> Workspace:
    """A vault whose person has said this, after the upkeep of the profile."""
    for words in statements:
        run("remember", words)
    run("memory", "run")
    return open_workspace(root)


def reply(workspace: Workspace, words: str) -> str:
    """What a reply of the owner in a messenger comes to; the profile is brought up to date after it."""
    parsed = parse_decision(words)
    assert parsed is not None
    said = carry_out(workspace, parsed)
    assert said is not None
    Upkeeper(workspace).fill_profile()
    return said


def told(workspace: Workspace, notice: NoticeRaised) -> list[str]:
    """The replies behind the buttons of a notice."""
    return [each.reply for each in choices_of(workspace, notice.decides)]


@pytest.fixture
def laid(root: Path, run: Run) -> Path:
    """The vault with the profile's notes."""
    run("profile", "init")
    return root


def test_consent_is_asked_by_a_notice_and_given_by_its_code(laid: Path, run: Run) -> None:
    workspace = asked(run, laid, "I am allergic to peanuts.")
    (notice,) = waiting_notices(workspace, set())
    assert notice.type == "profile" and notice.priority >= 0.6 and notice.title.startswith("May I note")
    assert notice.lines[-3:-1] == ("1. Yes, note it", "2. No, leave it out") and "[[questions/" in notice.lines[-1]
    code = told(workspace, notice)[0].split()[0]
    assert waiting_notices(workspace, {notice.decides}) == (), "once"
    assert "peanuts" not in (laid / "profile/32-health-wellness.md").read_text("utf-8")
    assert "1. Yes" in reply(workspace, f"{code} perhaps"), "an answer is one of the boxes"
    assert not is_profile_answered(workspace)
    reply(workspace, f"{code} 1")
    assert "peanuts" in (laid / "profile/32-health-wellness.md").read_text("utf-8")
    assert profile_questions(workspace) == () and waiting_notices(workspace, set()) == ()


def test_a_contradiction_is_decided_by_a_button(laid: Path, run: Run) -> None:
    path = laid / "profile/00-basic-info.md"
    write(path, path.read_text("utf-8").replace("- **Home**:", "- **Home**: Bergen"))
    open_workspace(laid).vault.commit_human()
    workspace = asked(run, laid, "I live in Oslo.")
    (notice,) = waiting_notices(workspace, set())
    assert any("Bergen" in line for line in notice.lines) and any("Oslo" in line for line in notice.lines)
    assert agent_status(workspace).questions == 1
    old, new, both = told(workspace, notice)
    assert (old[-1], new[-1], both[-1]) == ("1", "2", "3")
    assert "- **Home**: Bergen" in path.read_text("utf-8")
    reply(workspace, new)
    text = path.read_text("utf-8")
    assert "- **Home**: Oslo (" in text and "Bergen" not in text
    assert waiting_notices(workspace, set()) == ()
