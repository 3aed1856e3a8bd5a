"""A passage of a PDF comes to a run that is about it, with its page and as text of a stranger, unless its person has
written it."""

from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.context.assemble import Opening
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from tests.attachments.files import pdf
from tests.stories.agents import furnish, script, settings, tell
from tests.vaults import write

OFFER = pdf(
    "Offer of the garden centre",
    "Prices of a small greenhouse:\nA small greenhouse of glass costs between 900 and 1,400 euros.",
)
ASKED = "What does a small greenhouse cost?"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", "Well."))
    write(made / "offers/small greenhouse.pdf", OFFER)
    write(made / "daily/2026-01-05 scan.pdf", pdf("The bridge on 5 January."))
    tell(made, settings(tmp_path), "reindex")
    return made


def opened(root: Path, task: str = ASKED) -> Opening:
    with opened_runs(open_workspace(root)) as runs:
        return runs.explain(RunRequest(task, Speaker("cli")))[0]


def said(start: Opening) -> str:
    return "\n".join(each.text for each in start.messages if each.source == "memories")


def test_it_is_a_strangers_and_marks_the_run(root: Path) -> None:
    start = opened(root)
    assert start.untrusted == ("offers/small greenhouse.pdf (from a saved file)",)
    assert "<untrusted" in said(start) and "1,400 euros" in said(start)
    assert "[[offers/small greenhouse.pdf]] page 2" in said(start)


def test_what_its_person_has_written_marks_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_ATTACHMENTS__MINE", "letters/*, offers/")
    start = opened(root)
    assert start.untrusted == ()
    assert "1,400 euros" in said(start) and "<untrusted" not in said(start)


def test_another_task_brings_nothing_up(root: Path) -> None:
    assert "euros" not in said(opened(root, "Where does my sister Ana live in Oslo?"))


def test_a_file_in_the_folder_of_days_is_no_log(root: Path) -> None:
    assert "%PDF" not in said(opened(root, "What was on 5 January 2026?"))
