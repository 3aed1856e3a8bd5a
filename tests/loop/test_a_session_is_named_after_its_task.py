"""A session's note has a name that a person can read, of its own, and is found again after it was renamed."""

from pathlib import Path

import pytest

from agent.errors import NoteGone
from agent.llm.messages import User
from agent.loop.records import Began, Spoken
from agent.loop.session import Session, begin_session, load_session
from agent.markdown.title import short_heading, short_title
from agent.texts import Sentence
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.vaults import git, make_vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {"a.md": "# A\n"}, clock=FakeClock())


def saved(vault: Vault, task: str) -> Session:
    session = begin_session(vault, "cli", task)
    session.add(Began("r", task, "cli"), Spoken(User(task)))
    session.save(Sentence("session: test"))
    return session


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("garden plan", "Garden plan"),
        ("find me something quick for dinner. I can't stand coriander", "Find me something quick for dinner"),
        ("Hi! Who's at the door?", "Hi Who's at the door"),
        ("what did we decide about the roof of the old boathouse by the lake last spring?",
         "What did we decide about the roof of the old"),
        ("a/b\\c: <x> | \"y\" * ? [[z]] #t ^ %%", "A b c x y z t"),
        ("..", ""),
        ("护照放在卧室衣柜最上层的饼干盒里，别忘了。还有钥匙", "护照放在卧室衣柜最上层的饼干盒里 别忘了"),
        ("刚跟家里开完会，我们决定不卖老家那套房子", "刚跟家里开完会 我们决定不卖老家那套房子"),
        ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
         "Donaudampfschifffahrtselektrizitätenhauptbetrieb"),
        ("plan-summary-1", "Plan summary 1"),
    ],
)  # fmt: skip
def test_the_title_is_of_whole_words_and_can_be_a_files_name(task: str, title: str) -> None:
    assert short_title(task) == title


def test_the_heading_says_that_words_are_left_out() -> None:
    assert short_heading("Find dinner quickly. And then") == "Find dinner quickly"
    cut = short_heading("what did we decide about the roof of the old boathouse by the lake last spring?")
    assert cut == "What did we decide about the roof of the old…"


def test_two_of_one_title_are_kept_apart_though_neither_is_written_yet(vault: Vault) -> None:
    first, second = begin_session(vault, "cli", "Garden plan"), begin_session(vault, "cli", "garden PLAN")
    assert first.path == "sessions/2026/11/2026-11-21 Garden plan.md"
    assert second.path == "sessions/2026/11/2026-11-21 Garden PLAN 2.md"
    assert saved(vault, "Garden plan").path.endswith("/2026-11-21 Garden plan 3.md")
    assert begin_session(vault, "cli", "…").path == "sessions/2026/11/2026-11-21.md"


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_session_that_a_person_renamed_or_moved_is_found_by_its_old_path(vault: Vault, is_committed: bool) -> None:
    session = saved(vault, "Garden plan")
    saved(vault, "Another plan")
    new = "sessions/gardens/The garden.md"
    (vault.place.root / "sessions/gardens").mkdir()
    (vault.place.root / session.path).rename(vault.place.root / new)
    if is_committed:
        git(vault.place.root, "add", "-A")
        git(vault.place.root, "commit", "-qm", "renamed")
    found = load_session(vault, session.path)
    assert (found.path, found.id) == (new, session.id)
    session.add(Spoken(User("And then?")))
    session.save(Sentence("session: test"))
    assert load_session(vault, new).history[-1] == User("And then?"), "what goes on finds it, too"


def test_a_session_that_is_renamed_before_its_first_commit_goes_on_in_its_note(vault: Vault) -> None:
    session = begin_session(vault, "cli", "Garden plan")
    session.add(Began("r", "Garden plan", "cli"), Spoken(User("Garden plan")))
    session.save(Sentence("session: test"), hold=True)
    new = "sessions/2026/11/The garden.md"
    (vault.place.root / session.path).rename(vault.place.root / new)
    session.add(Spoken(User("And then?")))
    session.save(Sentence("session: test"), hold=True)
    assert session.path == new and load_session(vault, new).history[-1] == User("And then?")


def test_a_session_that_is_gone_is_gone(vault: Vault) -> None:
    session = saved(vault, "Garden plan")
    (vault.place.root / session.path).unlink()
    with pytest.raises(NoteGone):
        load_session(vault, session.path)
    with pytest.raises(NoteGone):
        load_session(vault, "sessions/2026/11/2026-11-21 Never.md")
