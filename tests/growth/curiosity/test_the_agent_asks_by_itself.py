"""A doubted belief and doubts in work done alone become questions: only if the person wants that, with a reason and a
fallback; an answer is remembered and confirms the belief, and without one the note says what was done."""

from datetime import timedelta
from pathlib import Path

import pytest

from agent.background.decision_notices import waiting_notices
from agent.events.runs import HumanResponse
from agent.growth.beliefs.learn import person_model
from agent.growth.curiosity.find import doubt_in
from agent.growth.curiosity.look import look
from agent.markdown.note import Note
from agent.memory.store import load_entries
from agent.workspace.workspace import reload_settings
from tests.growth.beliefs.house import LONG, SHORT, House, house
from tests.growth.beliefs.talk import session
from tests.stories.agents import script
from tests.vaults import git, write

ON = "VAULT_AGENT_GROWTH__CURIOSITY__UNPROMPTED"


def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str = "en") -> House:
    home = house(tmp_path, monkeypatch, language=language)
    monkeypatch.setenv(ON, "true")
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "scripted")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(script(tmp_path / "script.json", "Yes.")))
    return House(reload_settings(home.workspace), home.clock)


def doubted(home: House) -> None:
    for name in ("one.md", "two.md", "three.md"):
        home.changed(name)
    for name in ("four.md", "five.md"):
        home.changed(name, SHORT, LONG)


def answer(home: House, path: str, box: str) -> None:
    home.person(path, (home.root / path).read_text("utf-8").replace(f"- [ ] {box}", f"- [x] {box}"))


@pytest.mark.parametrize(("key", "value"), [(ON, "false"), ("VAULT_AGENT_LLM__WIRE", "offline")])
def test_without_a_model_or_against_the_setting_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    home = asking(tmp_path, monkeypatch)
    monkeypatch.setenv(key, value)
    home = House(reload_settings(home.workspace), home.clock)
    doubted(home)
    assert look(home.workspace, lambda event: None) == "" and not (home.root / "questions").exists()


def test_which_of_two_holds_is_asked_once_and_the_answer_confirms_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = asking(tmp_path, monkeypatch)
    doubted(home)
    path = look(home.workspace, lambda event: None)
    text = (home.root / path).read_text("utf-8")
    assert "# Which holds for you: prefers shorter text, prefers longer text?" in text
    assert "Why I ask: What you said and did does not agree: 3 signs for “prefers shorter text”, 2 against it." in text
    assert "Without an answer: I go on with “prefers shorter text”." in text and "There is no hurry" in text
    (notice,) = waiting_notices(home.workspace, set())
    assert (notice.type, notice.decides, notice.urgent) == ("question", path, False)
    home.pass_days(1)
    assert look(home.workspace, lambda event: None) == "", "asked already"
    answer(home, path, "prefers longer text")
    told: list[object] = []
    look(home.workspace, told.append)
    (response,) = told
    assert isinstance(response, HumanResponse) and response.answer == "prefers longer text"
    assert Note.parse((home.root / path).read_bytes()).string("status") == "answered"
    (belief,) = [each for each in person_model(home.workspace).beliefs if each.dimension.topic == "length"]
    assert (belief.value, belief.is_used, belief.is_doubted) == ("longer", True, False)
    entries = load_entries(home.vault, [each for each in home.vault.note_paths() if each.startswith("entries/")])
    assert [each.entry.text.splitlines()[0] for each in entries] == ["prefers longer text"]
    look(home.workspace, told.append)
    assert len(told) == 1, "taken in once"


def test_without_an_answer_the_fallback_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    doubted(home)
    path = look(home.workspace, lambda event: None)
    home.pass_days(3.1)
    look(home.workspace, lambda event: None)
    note = Note.parse((home.root / path).read_bytes())
    assert note.string("status") == "expired"
    assert "→ There was no answer until" in note.body and "I go on with “prefers shorter text”." in note.body


def test_at_night_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch)
    doubted(home)
    home.clock.advance((23 - home.clock.now().hour) * 3600.0)
    assert look(home.workspace, lambda event: None) == ""


def put(home: House, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        write(home.root / path, text)
    git(home.root, "add", "-A")
    git(home.root, "commit", "-q", "-m", "Notes")


HEDGED = "The boat is probably at the pier. It may be the blue one, I am not sure."


def test_what_it_was_unsure_of_alone_is_asked_and_of_strangers_text_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = asking(tmp_path, monkeypatch)
    at = home.clock.now() - timedelta(hours=2)
    put(home, session(at, "Where is the boat?", HEDGED))
    put(home, session(at + timedelta(minutes=1), "Find the boat", HEDGED, job="boat", taint="https://evil.example"))
    assert look(home.workspace, lambda event: None) == "", "who asks can ask on; a stranger's page asks nothing"
    put(home, session(at + timedelta(minutes=2), "Find the boat", HEDGED, job="boat"))
    path = look(home.workspace, lambda event: None)
    text = (home.root / path).read_text("utf-8")
    assert "While working on “Find the boat” I was not sure of this: “The boat is probably at the pier”." in text
    assert "Without an answer: It stays as it is." in text


def test_a_chinese_vault_asks_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = asking(tmp_path, monkeypatch, "zh")
    doubted(home)
    text = (home.root / look(home.workspace, lambda event: None)).read_text("utf-8")
    assert "# 以哪个为准：偏好更短的文字，偏好更长的文字？" in text and "为什么问：" in text and "## 回答" in text


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (HEDGED, "hedged"),
        ("It is at the pier.", None),
        ("It is probably at the pier.", None),
        ("船可能在码头。也许是蓝色的那条，我不确定。", "hedged"),
        ("Which way?\n\nA. By train\nB. By plane\n", "undecided"),
        ("要么坐火车，要么坐飞机，由你决定。", "undecided"),
    ],
)
def test_doubt_is_heard_in_both_languages(answer: str, kind: str | None) -> None:
    found = doubt_in(answer)
    assert (found.kind if found else None) == kind
