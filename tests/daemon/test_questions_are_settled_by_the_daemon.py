"""What the person answers in a note is taken in by the daemon: it is remembered, told as an event, moves what is
believed of them, and the run that waits goes on. What nobody answers is closed, and two machines do none of it twice.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.events.runs import HumanResponse
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.gap import CuriousGap, question_note
from agent.growth.curiosity.look import ask
from agent.memory.store import StoredEntry, load_entries
from agent.runs.decisions import open_questions
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace
from tests.daemon.house import BRISK, living
from tests.daemon.pair import are_quiet, make_pair, until
from tests.stories.agents import call, furnish, script, ticked
from tests.vaults import git

HAT = CuriousGap("decision", "hat", "Which hat?", "It is cold.", "I take none.", ("wool hat", "straw hat"))
WISH = call("human_ask", question="Which colour?", options=["red", "blue"], why="The boat is bare.", fallback="Red.")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in {**BRISK, "VAULT_AGENT_INBOX__QUIET_SECONDS": "0.2"}.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", WISH, "Painted."))


def kept(workspace: Workspace) -> list[StoredEntry]:
    paths = [each for each in workspace.vault.note_paths() if each.startswith("entries/")]
    return [each for each in load_entries(workspace.vault, paths) if each.entry.source == "question"]


def reads(path: Path, words: str) -> Callable[[], bool]:
    return lambda: words in path.read_text("utf-8")


def tick(path: Path, box: str) -> None:
    path.write_text(ticked(path.read_text("utf-8"), box), "utf-8")


def test_an_answer_is_an_event_a_memory_and_a_preference(root: Path) -> None:
    workspace = open_workspace(root)
    note = root / ask(workspace, HAT)
    heard: list[HumanResponse] = []
    with living(root) as house:
        house.live.bus.subscribe(heard.append, HumanResponse, name="test", timeout=None)
        tick(note, "wool hat")
        house.until(reads(note, "status: answered"), "the answer is taken in")
        house.until(lambda: bool(heard), "it is told")
    assert [each.answer for each in heard] == ["wool hat"]
    assert [each.entry.text for each in kept(workspace)] == ["wool hat\n\n(Which hat?)"]
    assert [each.value for each in person_model(workspace).beliefs] == ["wool hat"]
    assert "growth/questions" in git(root, "log", "--format=%B", "-3"), "undo --job growth/questions takes it back"


def test_what_nobody_answers_is_closed_with_what_is_done(root: Path) -> None:
    workspace = open_workspace(root)
    old = workspace.clock.now() - timedelta(days=4)
    made = question_note(workspace.vault, HAT, old, 3, "en")
    with workspace.vault.transaction("question(ask): x", Stamp("agent")) as change:
        change.requests.append(made)
    with living(root) as house:
        house.until(reads(root / made.path, "status: expired"), "it is closed")
    assert "→ There was no answer until" in (root / made.path).read_text("utf-8")
    assert "I take none." in (root / made.path).read_text("utf-8").rpartition("→")[2]


def test_a_request_that_asked_goes_on_and_its_answer_is_known(root: Path) -> None:
    request = root / "inbox/paint.md"
    with living(root) as house:
        request.parent.mkdir(exist_ok=True)
        request.write_text("Paint the boat.\n", "utf-8")
        workspace = house.workspace
        house.until(lambda: bool(open_questions(workspace)), "the run asks")
        (asked,) = open_questions(workspace)
        tick(root / asked.path, "blue")
        house.until(reads(request, "Painted."), "the run goes on")
        house.until(lambda: bool(kept(workspace)), "the answer is remembered")
    (entry,) = kept(workspace)
    assert entry.entry.text == "blue\n\n(Which colour?)"
    assert [each.value for each in person_model(workspace).beliefs] == ["blue"]


def test_two_machines_take_an_answer_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {**BRISK, "VAULT_AGENT_MEMORY__LIFECYCLE": "off"}.items():
        monkeypatch.setenv(key, value)
    pair = make_pair(tmp_path, monkeypatch.setenv)
    pair.as_machine(0)
    path = ask(open_workspace(pair.roots[0]), HAT)
    pair.sync()
    with pair.living() as houses:
        pair.arrive(houses, {path: ticked((pair.roots[0] / path).read_text("utf-8"), "wool hat")})
        until(
            houses,
            lambda: are_quiet(houses) and any(reads(root / path, "status: answered")() for root in pair.roots),
            "it is taken in, and the turn is given back",
            120,
        )
    pair.sync()
    for number, root in enumerate(pair.roots):
        pair.as_machine(number)
        assert len(kept(open_workspace(root))) == 1, "once"
    subjects = git(pair.roots[0], "log", "--format=%s").splitlines()
    assert sum(each.startswith("question(settle)") for each in subjects) == 1
    assert pair.machines[0].vault.head == pair.machines[1].vault.head and pair.claims() == []
