"""The person answers in an editor as they like: ticks two choices, throws the note away, rewords a box, says the same
in a conversation; nothing is asked twice, taken for more than it says, or lost."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.app.agent import opened_runs
from agent.app.open import open_workspace
from agent.background.decision_notices import URGENT, waiting_notices
from agent.events.runs import HumanResponse, Speaker
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.gap import CuriousGap
from agent.growth.curiosity.look import ask, look
from agent.growth.curiosity.settle import settle
from agent.loop.records import RunRequest
from agent.markdown.note import Note
from agent.memory.store import load_entries
from agent.runs.decisions import open_questions, ready
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.fakes import FakeClock
from tests.growth.beliefs.house import House
from tests.growth.beliefs.talk import session
from tests.growth.curiosity.test_the_agent_asks_by_itself import HEDGED, answer, asking, doubted, put
from tests.stories.agents import call, furnish, script
from tests.vaults import git, write

OFFER = "Which way do you want to go?\n\nA. By train – calm\nB. By plane – fast\n"


def worked(home: House, said: str, task: str = "Find the boat", minutes: int = 0) -> None:
    put(home, session(home.clock.now() - timedelta(hours=2, minutes=minutes), task, said, job="boat"))


def asked(home: House) -> str:
    return look(home.workspace, lambda event: None)


def entries(home: House) -> list[str]:
    found = load_entries(home.vault, [each for each in home.vault.note_paths() if each.startswith("entries/")])
    return [each.entry.text for each in found if each.entry.source == "question"]


def test_two_ticks_choose_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    doubted(home)
    path = asked(home)
    home.person(path, (home.root / path).read_text("utf-8").replace("- [ ]", "- [x]"))
    asked(home)
    text = (home.root / path).read_text("utf-8")
    assert "As you have ticked more than one, I take none for the one that holds." in text
    (belief,) = [each for each in person_model(home.workspace).beliefs if each.dimension.topic == "length"]
    assert not any(each.kind == "answered" for each in (*belief.signs, *belief.against))
    assert entries(home)[0].startswith("prefers shorter text; prefers longer text"), "but it is remembered"
    home.pass_days(1)
    assert asked(home) == "", "and not asked again"


def test_a_question_that_is_thrown_away_is_never_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    worked(home, HEDGED)
    path = asked(home)
    (home.root / path).unlink()
    home.vault.commit_human()
    worked(home, "There may be wind. I am not sure. It is perhaps cold.", "Read the weather", 5)
    home.clock.advance(3_600)
    assert asked(home) == "", "who throws a question away wants no other for it on that day"
    home.pass_days(1)
    worked(home, HEDGED, "Look for the boat", 10)
    later = asked(home)
    assert "weather" in (home.root / later).read_text("utf-8"), "and the same in other work is not asked again"


def test_the_same_doubt_of_every_day_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    paths = []
    for _ in range(4):
        worked(home, HEDGED)
        paths.append(asked(home))
        home.pass_days(1)
    assert [bool(each) for each in paths] == [True, False, False, False]


def test_what_the_person_said_last_week_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    home.stated("The boat is at the pier, the blue one.")
    home.pass_days(6)
    worked(home, HEDGED)
    assert asked(home) == ""


def test_what_was_made_of_an_answer_stays_undone_until_the_note_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = asking(tmp_path, monkeypatch)
    doubted(home)
    path = asked(home)
    home.person(path, (home.root / path).read_text("utf-8").replace("- [ ]", "- [x]", 1))
    asked(home)
    assert len(entries(home)) == 1
    undo(home.vault, Selection(commits=(git(home.root, "rev-parse", "HEAD").strip(),)))
    asked(home)
    assert entries(home) == [], "an undo holds"
    home.person(path, (home.root / path).read_text("utf-8") + "\nShorter, always.\n")
    asked(home)
    assert len(entries(home)) == 1, "what is written since is an answer again"


def test_words_beside_the_boxes_are_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    worked(home, OFFER, "Plan the trip")
    path = asked(home)
    text = (home.root / path).read_text("utf-8")
    assert "# In “Plan the trip” I could not decide: By train or By plane?\n" in text
    assert "- [ ] By train – calm\n- [ ] By plane – fast\n" in text
    home.person(path, text.replace("- [ ] By plane – fast\n", "- [ ] By plane – fast\n\nNeither, by ship.\n"))
    told: list[object] = []
    settle(home.workspace, told.append)
    (response,) = told
    assert isinstance(response, HumanResponse) and response.answer == "Neither, by ship."
    assert entries(home)[0].startswith("Neither, by ship.\n")


def test_a_choice_moves_the_model_of_the_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    worked(home, OFFER, "Plan the trip")
    answer(home, asked(home), "By train – calm")
    asked(home)
    (belief,) = person_model(home.workspace).beliefs
    assert (belief.dimension.kind, belief.value) == ("choice", "By train")


def test_a_header_that_is_broken_waits_until_it_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    worked(home, OFFER, "Plan the trip")
    path = asked(home)
    whole = (home.root / path).read_text("utf-8")
    home.person(path, whole.replace("status: open", "status: [open").replace("- [ ] By train", "- [x] By train"))
    assert settle(home.workspace, lambda event: None) == ()
    home.person(path, whole.replace("- [ ] By train", "- [x] By train"))
    assert len(settle(home.workspace, lambda event: None)) == 1


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("We can go either by train or by plane.", ("could not decide: by train or by plane?",)),
        ("It depends on what you want.", ("this was left open: “It depends on what you want”",)),
    ],
)
def test_each_doubt_has_its_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, words: tuple[str, ...]
) -> None:
    home = asking(tmp_path, monkeypatch)
    worked(home, said)
    text = (home.root / asked(home)).read_text("utf-8")
    assert all(each in text for each in words), text


def test_two_ways_become_a_choice_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch, "zh")
    worked(home, "我们要么坐火车，要么坐飞机。", "安排旅行")
    assert "定不下来：坐火车，还是坐飞机？" in (home.root / asked(home)).read_text("utf-8")


def test_an_urgent_question_is_sent_at_once_but_not_at_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    gap = CuriousGap("knowledge", "today", "Who lets the plumber in?", "He comes today.", "I cancel.", urgency="high")
    ask(home.workspace, gap)
    (notice,) = waiting_notices(home.workspace, set())
    assert (notice.priority, notice.urgent) == (URGENT, True)
    home.clock.advance((23 - home.clock.now().hour) * 3_600.0)
    (notice,) = waiting_notices(home.workspace, set())
    assert (notice.priority, notice.urgent) == (URGENT, False)


@pytest.mark.parametrize("is_of_earlier_version", [False, True])
def test_a_run_whose_question_is_thrown_away_does_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_of_earlier_version: bool
) -> None:
    wish = call("human_ask", question="Which colour?", options=["red", "blue"], fallback="I take red.")
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", wish, "Done."))
    workspace = open_workspace(root, clock=FakeClock())
    with opened_runs(workspace) as runs:
        ended = runs.ask(RunRequest("Paint the boat", Speaker("cli")))
    (question,) = open_questions(workspace)
    if is_of_earlier_version:  # which has said it in other words
        note = Note.parse((root / question.path).read_bytes())
        body = f"Asked in run {note.string('run')} as {note.string('call')}."
        git(root, "commit", "-q", "--amend", "-m", "question(ask): Which colour?", "-m", body)
    (root / question.path).unlink()
    assert ready(workspace) == (), "an editor that saves may take it away for a moment"
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "no")
    assert len(ready(workspace)) == 1
    with opened_runs(workspace) as runs:
        assert runs.resume(ended.session).answer == "Done."
    assert "thrown the question away without an answer; do what you said: I take red." in (
        root / ended.session
    ).read_text("utf-8")
    assert not (root / question.path).exists(), "and it is not asked again"


def test_a_reworded_box_is_the_answer_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = call("human_ask", question="Which colour?", options=["red", "blue"])
    root = furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", wish, "Done."))
    workspace = open_workspace(root, clock=FakeClock())
    with opened_runs(workspace) as runs:
        ended = runs.ask(RunRequest("Paint the boat", Speaker("cli")))
    (question,) = open_questions(workspace)
    text = (root / question.path).read_text("utf-8")
    write(root / question.path, text.replace("- [ ] red", "- [x] red, but dark"))
    with opened_runs(workspace) as runs:
        assert runs.resume(ended.session).answer == "Done.", "it does not ask again for ever"
    assert Note.parse((root / question.path).read_bytes()).string("status") == "answered"
