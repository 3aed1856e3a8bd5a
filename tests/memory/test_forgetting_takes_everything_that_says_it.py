"""Forgetting removes a note, what says the same and what rests on it; leaves no word; and can be taken back."""

from pathlib import Path

import pytest

from agent.errors import NoteGone, UserError
from agent.memory.blame import DAILY
from agent.memory.entry import EntryType
from agent.memory.forgetting.forget import carry_out, plan, plan_named
from agent.memory.forgetting.places import renamed
from agent.memory.forgetting.tombstones import load_tombstones
from agent.vault.change import Stamp
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.memory.days import Days, days
from tests.vaults import git

SECRET = "Anna's locker code is 4711"


def forget(home: Days, path: str) -> str:
    outcome = carry_out(home.vault, plan(home.vault, path), home.language)
    assert outcome.commit
    return outcome.commit


def everything(home: Days) -> str:
    return "\n".join(home.text(path) for path in home.vault.note_paths())


def test_the_note_goes_and_what_stays_holds_none_of_its_words(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry(SECRET))
    commit = forget(home, path)
    assert home.vault.read(path) is None
    assert "4711" not in everything(home) and "locker" not in everything(home)
    assert "locker" not in git(home.root, "show", "-s", "--format=%B", commit)
    assert load_tombstones(home.vault).is_forgotten(SECRET)


def test_other_entries_lose_the_sentence_or_go_when_nothing_else_is_in_them(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry(SECRET))
    same = home.keep(home.entry(SECRET + "!", EntryType.AUTO_FLUSH))
    turn = home.say(f"Remember that {SECRET}.", "I will.")
    more = home.say(f"{SECRET}. The train leaves at nine.")
    other = home.say("Anna's locker is green")
    forget(home, path)
    assert home.vault.read(same) is None and home.vault.read(turn) is None
    left = renamed(more, "The train leaves at nine")
    assert home.vault.read(more) is None, "its name told it, too"
    assert "4711" not in home.text(left) and "The train leaves at nine." in home.text(left)
    assert "Anna's locker is green" in home.text(other)


def test_the_commit_says_how_many_notes_of_which_kind_and_none_of_the_words(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry(SECRET))
    home.keep(home.entry(SECRET + "!", EntryType.AUTO_FLUSH))
    home.say(f"{SECRET}. The train leaves at nine.")
    commit = forget(home, path)
    said = git(home.root, "show", "-s", "--format=%s", commit).strip()
    assert said.startswith("memory(forget): 2 memories and lines of 1 memory")


def test_what_is_answered_to_anything_is_not_what_is_forgotten(tmp_path: Path) -> None:
    home = days(tmp_path)
    answer = "Got it, I will keep this in mind."
    path = home.say(SECRET, f"{answer} So Anna's locker has the code 4711.")
    other = home.say("The boiler was serviced in March.", answer)
    found = plan(home.vault, path)
    assert [gone for gone, _ in found.gone] == [path] and found.changed == ()
    forget(home, path)
    assert answer in home.text(other)
    assert load_tombstones(home.vault).is_forgotten("So Anna's locker has the code 4711.")
    assert not load_tombstones(home.vault).is_forgotten(answer)


def test_what_was_asked_for_goes_with_every_word_of_its_answer(tmp_path: Path) -> None:
    home = days(tmp_path)
    forget(home, home.say("What is the password of the house?", "It says hunter2 there.\n- and swordfish upstairs"))
    assert load_tombstones(home.vault).is_forgotten("Assistant: It says hunter2 there.")
    assert load_tombstones(home.vault).is_forgotten("- and swordfish upstairs")


def test_lines_of_memory_that_rest_on_it_alone_go_and_a_persons_stay(tmp_path: Path) -> None:
    home = days(tmp_path, {"MEMORY.md": "# Long-term memory\n\n## Mine\n\n- the locker is in the hall\n"})
    for _ in range(3):
        path = home.say(SECRET)
        home.say("My sister lives in Lyon")
    home.tend()
    assert "4711" in home.memory and "Lyon" in home.memory
    found = plan(home.vault, path)
    assert any("4711" in line for each in found.changed for line in each.gone), "it is shown first"
    forget(home, path)
    assert "4711" not in home.memory and "Lyon" in home.memory and "the locker is in the hall" in home.memory


def test_the_log_and_the_summary_of_a_day_keep_none_of_it_and_the_rest(tmp_path: Path) -> None:
    home = days(tmp_path)
    session = "[[sessions/2026/11/a]]"
    log = f"# 2026-11-21\n\n## 09:00 - {SECRET}\n\n- In {session}\n\n## 09:05 - Book a train\n\n- In {session}\n"
    summary = f"- 09:00 {SECRET} · Book a train (and 2 more) {session}\n- 09:07 {SECRET} {session}\n"
    with home.vault.transaction("memory(daily): log", Stamp("agent", tool=DAILY)) as change:
        change.create("daily/2026-11-21.md", (log + summary).encode())
    forget(home, home.keep(home.entry(SECRET)))
    text = home.text("daily/2026-11-21.md")
    assert "4711" not in text and "locker" not in text
    assert "## 09:00 - [forgotten]\n" in text and "## 09:05 - Book a train\n" in text


def test_what_a_person_wrote_is_named_and_left_alone(tmp_path: Path) -> None:
    home = days(tmp_path, {"mine.md": f"# Mine\n\n{SECRET}\n"})
    path = home.keep(home.entry(SECRET))
    corrected = home.say(f"{SECRET} now")
    home.by_hand(corrected, home.text(corrected).replace("Noted.", SECRET))
    found = plan(home.vault, path)
    assert set(found.mentions) == {"mine.md", corrected}
    forget(home, path)
    assert SECRET in home.text("mine.md") and SECRET in home.text(corrected)


def test_an_undo_brings_it_back_and_lifts_the_tombstone(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry(SECRET))
    more = home.say(f"{SECRET}. The train leaves at nine.")
    before = git(home.root, "rev-parse", "HEAD^{tree}")
    commit = forget(home, path)
    home.keep(home.entry("Ben's bicycle is red"))
    forget(home, home.keep(home.entry("Cleo's boat is blue")))
    undo(home.vault, Selection((commit,)))
    assert SECRET in home.text(path) and "4711" in home.text(more)
    assert not load_tombstones(home.vault).is_forgotten(SECRET)
    assert load_tombstones(home.vault).is_forgotten("Cleo's boat is blue")
    assert before


def test_a_note_that_is_no_entry_may_be_forgotten_too(tmp_path: Path) -> None:
    home = days(tmp_path, {"tea.md": "# Tea\n\nGreen tea in the morning. Anna too.\n"})
    forget(home, "tea.md")
    assert home.vault.read("tea.md") is None
    assert not load_tombstones(home.vault).is_forgotten("Anna too came along, and we had green tea in the morning.")


def test_a_note_with_a_common_name_takes_no_link_with_that_word_in_it(tmp_path: Path) -> None:
    home = days(tmp_path, {"tea.md": "# Tea\n\nThe Assam is in the blue tin.\n"})
    path = home.keep(home.entry("I like my tea, hot"))
    assert "-tea-" in path
    home.tend()
    before = home.memory
    assert path.removesuffix(".md").rpartition("/")[2] in before
    found = plan(home.vault, "tea.md")
    assert [gone for gone, _ in found.gone] == ["tea.md"] and found.changed == ()
    forget(home, "tea.md")
    assert home.memory == before


def test_a_line_that_loses_a_link_only_is_shown(tmp_path: Path) -> None:
    row = "- The blue tin is in [[tea]]"
    home = days(tmp_path, {"tea.md": "# Tea\n\nThe Assam is in the cellar.\n"})
    session = "sessions/2026/11/2026-11-21 The tin.md"
    with home.vault.transaction("session: answered", Stamp("agent", tool="session")) as change:
        change.create(session, f"---\ntype: session\n---\n# The tin\n\n{row}\n".encode())
    (changed,) = plan(home.vault, "tea.md").changed
    assert changed.gone == (row,)
    forget(home, "tea.md")
    assert home.text(session).endswith("# The tin\n\n- The blue tin is in [forgotten]\n")


@pytest.mark.parametrize(
    ("name", "said", "left"),
    [
        ("Anna is pregnant", "You told me that Anna is pregnant.", "[forgotten]"),
        ("安娜怀孕了", "你说过安娜怀孕了。", "[forgotten]"),
        ("tea", "You told me where the tea is.", "You told me where the tea is."),
        ("2026-11", "It was on 2026-11-20, you told me.", "It was on 2026-11-20, you told me."),
    ],
)
def test_a_name_of_several_words_is_a_text_and_one_word_or_a_number_is_none(
    tmp_path: Path, name: str, said: str, left: str
) -> None:
    home = days(tmp_path, {f"{name}.md": "In May there will be more of us.\n", "mine.md": f"# Mine\n\n{said}\n"})
    session = "sessions/2026/11/2026-11-21 Who comes.md"
    with home.vault.transaction("session: answered", Stamp("agent", tool="session")) as change:
        change.create(session, f"---\ntype: session\n---\n# Who comes\n\n{said}\n".encode())
    kept = home.keep(home.entry("Anna and the tea are at home"))
    is_text = said != left
    assert plan(home.vault, f"{name}.md").mentions == (("mine.md",) if is_text else ())
    forget(home, f"{name}.md")
    assert home.text(session).endswith(f"# Who comes\n\n{left}\n")
    assert said in home.text("mine.md"), "what a person wrote stays"
    assert home.vault.read(kept) is not None


def test_only_rows_of_the_changelog_that_cite_the_note_go(tmp_path: Path) -> None:
    rows = "- 2026-11-20: tea, as said in [[2026-11-20-my-tea-000009]]\n", "- 2026-11-21: a tin, as said in [[tea]]\n"
    home = days(tmp_path, {"tea.md": "# Tea\n\nThe Assam is in the blue tin.\n"})
    with home.vault.transaction("profile(changelog): two rows", Stamp("agent", tool="profile")) as change:
        change.create("profile/_changelog.md", ("# Changelog\n\n" + "".join(rows)).encode())
    forget(home, "tea.md")
    assert home.text("profile/_changelog.md") == f"# Changelog\n\n{rows[0]}"


@pytest.mark.parametrize("path", ["MEMORY.md", "archive/forgotten/2026-11-21-000001.md"])
def test_what_is_needed_to_remember_is_not_forgotten(tmp_path: Path, path: str) -> None:
    home = days(tmp_path, {path: "x\n"})
    with pytest.raises(UserError):
        plan(home.vault, path)


def test_a_note_that_is_not_there_cannot_be_forgotten(tmp_path: Path) -> None:
    with pytest.raises(NoteGone):
        plan(days(tmp_path).vault, "entries/none.md")


@pytest.mark.parametrize("named", ["{stem}", "[[{stem}]]"])
def test_a_memory_is_named_as_in_a_link_and_no_other_note_is_by_one_word(tmp_path: Path, named: str) -> None:
    home = days(tmp_path, {"notes/locker.md": "# Locker\n\nIt is blue.\n"})
    path = home.keep(home.entry(SECRET))
    found = plan_named(home.vault, named.format(stem=Path(path).stem))
    assert [gone for gone, _ in found.gone] == [path]
    assert "notes/locker.md" not in {gone for gone, _ in plan_named(home.vault, "locker").gone}
