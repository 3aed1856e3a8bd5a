"""Days of a person with the agent's memory: it remembers by itself, visibly, in notes that are theirs to correct.

The upkeep is asked for each morning, as the first activity of a day has it done.
"""

from pathlib import Path

import pytest

from agent.loop.session import sessions
from agent.memory.daily import summary_of
from agent.memory.forgetting.forget import carry_out, plan
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.stories.agents import PROJECT, call
from tests.stories.life import Life, life
from tests.vaults import git, write

TEMPLATE = PROJECT / "vault_template/en"
TEA = "I prefer green tea in the morning."
NUTS = "我对花生过敏。"
ONCE = "The plumber came on Tuesday."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Life:
    """A vault with a MEMORY.md as `init` lays it, on the morning of the first day."""
    days = life(tmp_path, monkeypatch.setenv)
    for name in ("MEMORY.md", "Welcome.md"):
        write(days.root / name, (TEMPLATE / name).read_text("utf-8"))
    days.morning_of(1)
    return days


def three_days(home: Life) -> None:
    """Two facts come up on each of three days, another one once."""
    home.talk(TEA, NUTS, ONCE)
    home.morning_of(2)
    home.tend()
    home.talk(f"By the way, {TEA}", "What is there to do today?", NUTS)
    home.morning_of(3)
    home.tend()
    home.talk(NUTS, TEA)


def test_what_lasts_is_known_at_once_and_what_came_up_on_three_days_has_its_evidence(home: Life) -> None:
    home.talk(TEA, NUTS, ONCE)
    home.morning_of(2)
    home.tend()
    once = [line for line in home.text("MEMORY.md").splitlines() if line.endswith("· said once")]
    assert [any(fact[:-1] in line for line in once) for fact in (TEA, NUTS)] == [True, True]
    for day in (2, 3):
        home.morning_of(day)
        home.tend()
        home.talk(NUTS, f"By the way, {TEA}")
    home.morning_of(4)
    home.tend()
    memory = home.text("MEMORY.md")
    assert f"## Preferences\n\n- {TEA} ([[" in memory
    assert [memory.count(f"\n- {fact[:-1]}") for fact in (TEA, NUTS)] == [1, 1]
    assert "plumber" not in memory and "said once" not in memory
    assert home.broken_links(["MEMORY.md"]) == []
    assert home.tend() is None, "once a day"


def test_without_a_model_nothing_is_taken_for_a_contradiction_and_the_newer_is_given_first(home: Life) -> None:
    home.talk("My sister Mara lives in Porto.", "Thanks!")
    home.morning_of(2)
    home.tend()
    assert "My sister Mara lives in Porto." in home.text("MEMORY.md")
    home.talk("My sister Mara lives in Lisbon now.")
    home.morning_of(3)
    home.tend()
    memory = home.text("MEMORY.md")
    assert "My sister Mara lives in Lisbon now." in memory and "lives in Porto" in memory
    given = home.given("Where does my sister Mara live?")
    assert 0 <= given.find("lives in Lisbon now.") < given.find("lives in Porto.")
    assert not any("Thanks" in home.text(path) for path in home.paths("daily/")), "small talk is not logged"


def test_a_correction_by_hand_holds_against_all_that_is_said_later(home: Life) -> None:
    three_days(home)
    home.morning_of(4)
    home.tend()
    mine = home.by_hand("MEMORY.md", lambda text: text.replace("green tea", "black tea") + "\n- The boiler is Ben's.\n")
    for day in (4, 5, 6):
        home.morning_of(day)
        home.tend()
        home.talk(TEA, NUTS)
        assert home.text("MEMORY.md") == mine
    assert "black tea in the morning" in home.given("Which tea do I prefer in the morning?")
    without = home.by_hand("MEMORY.md", lambda text: "\n".join(row for row in text.split("\n") if "花生" not in row))
    home.morning_of(7)
    home.tend()
    home.talk(NUTS)
    home.morning_of(8)
    home.tend()
    assert home.text("MEMORY.md") == without, "what a person has deleted is not added again"


def test_each_day_has_a_note_that_says_what_was_done_and_what_came_of_it(home: Life) -> None:
    first = home.now
    home.talk(TEA, "What is there to do today?")
    answered = home.asks_in("inbox/shop.md", "Where do I buy tea?\n")
    home.by_hand(f"daily/{first:%Y-%m-%d}.md", lambda text: text + "\nI slept badly. 睡得不好。\n")
    home.morning_of(2)
    second = home.now
    home.talk(TEA, "Anna's birthday is on 3 May.")
    yesterday, today = home.diary(first), home.diary(second)
    assert f"## 09:00 - {TEA}\n" in yesterday and "Where do I buy tea?\n" in yesterday
    assert yesterday.count("I slept badly. 睡得不好。") == 1
    said = summary_of(today) or ""
    assert f"- {TEA} [[" in said and "- Anna's birthday is on 3 May. [[" in said, "what was said again counts too"
    assert TEA in (summary_of(yesterday) or ""), "closed when the next day began"
    assert "Where do I buy tea?" not in (summary_of(yesterday) or ""), "what was asked stands in the log"
    assert home.broken_links([path for path in home.paths("daily/")]) == []
    assert answered.status == "done" and "%% vault-agent: answer" in home.text("inbox/shop.md")
    assert home.text("inbox/shop.md").count("Where do I buy tea?\n") == 1


def test_what_is_forgotten_stays_forgotten_when_it_is_said_again(home: Life) -> None:
    code, question = "The workshop's alarm code is Bluebird.", "What is the alarm code of the workshop?"
    home.talk(code, "Anna's birthday is on 3 May.")
    home.morning_of(2)
    assert "Bluebird" in home.given(question)
    (path,) = [path for path, entry in home.entries.items() if entry.text == code]
    vault = home.workspace.vault
    carry_out(vault, plan(vault, path), "en")
    for day in (3, 4, 5, 6):
        home.morning_of(day)
        home.tend()
        assert "Bluebird" not in home.given(question)
        home.talk(f"By the way: {code}", "Anna's birthday is on 3 May.")
    kept = [path for path in home.paths("entries/") if "Bluebird" in home.text(path)]
    assert kept == [] and "Bluebird" not in home.text("MEMORY.md") and "3 May" in home.text("MEMORY.md")
    home.later(60)
    assert "Bluebird" not in home.given(question)


def test_what_a_conversation_was_named_after_is_forgotten_with_it(home: Life) -> None:
    secret = "My salary is 4,150 euros a month."
    home.talk(secret, "Anna's birthday is on 3 May.")
    home.morning_of(2)
    (path,) = [path for path, entry in home.entries.items() if entry.text == secret]
    carry_out(home.workspace.vault, plan(home.workspace.vault, path), "en")
    for day in (3, 4, 5):
        home.morning_of(day)
        home.tend()
        session = home.talk("My salary is 4150 euros a month", "Anna's birthday is on 3 May.").session
        assert "salary" not in session
        assert "my-salary-is" not in home.given("What is my salary?")
    kept = [path for path in home.paths() if not path.startswith("sessions/") and "4150 euros" in home.text(path)]
    assert kept == [] and "3 May" in home.text("MEMORY.md")


def test_of_a_long_chat_that_was_compacted_the_beginning_is_known_on_the_next_day(home: Life) -> None:
    fact = "项目代号是“白鹭”，预算三十万。"
    session = home.talk(fact, *(f"Tell me about the number {number}." for number in range(9))).session
    with home.sitting() as agent:
        compacted = agent.compact(session)
    assert compacted is not None and compacted.dropped
    home.morning_of(2)
    home.tend()
    home.talk("项目的代号是什么？", session=session)
    added = home.text(session).rpartition("%% vault-agent: summary")[2]
    assert "白鹭" in added, "the model was given what the summary had taken away"
    assert "白鹭" in home.given("项目的代号是什么？")
    assert home.text(session).count(f"\n{fact}\n") >= 1, "a transcript loses nothing"


def test_a_day_is_taken_back_and_the_persons_own_notes_are_as_they_left_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = call("vault_write", path="trip.md", content="# Trip\n\n- visit Clara\n")
    edited = call("vault_edit", path="plan.md", old="- buy tea\n", new="- buy tea\n- book the train\n")
    tools = ({"task": "plan my trip", **each} for each in (written, edited, {"text": "Done."}))
    home = life(tmp_path, monkeypatch.setenv, *tools)
    home.morning_of(1)
    home.talk("My sister Clara lives in Lisbon, near the river.")
    home.talk(TEA)
    before = {path: (home.root / path).read_bytes() for path in home.paths() if not path.startswith("daily/")}

    home.morning_of(2)
    start = home.now.replace(hour=0)
    home.tend()
    theirs = {
        "journal/安静的一天.md": home.by_hand(
            "journal/安静的一天.md", lambda text: "# 安静的一天\r\n\r\nA quiet day.\r\n"
        ),
        "tea.md": home.by_hand("tea.md", lambda text: text + "- 龙井\n"),
        "inbox/when.md": "When do I go?",
    }
    home.talk("Please plan my trip to Lisbon", "The cabin's key is under the flowerpot.")
    home.asks_in("inbox/when.md", theirs["inbox/when.md"])
    theirs["plan.md"] = home.by_hand("plan.md", lambda text: "# My plan\n" + text.partition("\n")[2])
    write(home.root / "not yet saved.md", "half a thought")
    assert (home.root / "trip.md").exists() and "book the train" in theirs["plan.md"]

    home.later(30)
    undone = undo(home.workspace.vault, Selection(since=start))
    assert undone.commit and not undone.refused and not undone.conflicts
    theirs["plan.md"] = theirs["plan.md"].replace("- book the train\n", "")
    theirs["not yet saved.md"] = "half a thought"
    for path, text in theirs.items():
        assert (home.root / path).read_bytes() == text.encode(), path
    after = {path: (home.root / path).read_bytes() for path in home.paths() if not path.startswith("daily/")}
    assert {path: data for path, data in after.items() if path not in theirs} == {
        path: data for path, data in before.items() if path not in theirs
    }
    assert "flowerpot" not in "".join(home.text(path) for path in home.paths())

    home.morning_of(3)
    home.tend()
    assert "flowerpot" not in home.given("Where is the key of the cabin?")
    assert "Lisbon, near the river" in home.given("Where does my sister Clara live?")
    assert git(home.root, "status", "--porcelain").split("\n")[:-1] in ([], ['?? "not yet saved.md"'])


def test_after_a_year_old_talk_is_in_the_archive_and_what_matters_is_still_known(home: Life) -> None:
    first = home.now
    three_days(home)
    home.morning_of(4)
    home.tend()
    home.by_hand(f"daily/{first:%Y-%m-%d}.md", lambda text: text + "\nAn apple tree was planted.\n")
    home.morning_of(370)
    done = home.tend()
    assert done is not None and done.report.archived and done.report.shortened
    assert home.entries == {} and len(home.paths("archive/entries/")) >= 3
    old = home.diary(first)
    assert "An apple tree was planted.\n" in old and TEA in old and "- Took" not in old
    assert "Memory upkeep" in home.diary() and home.broken_links(["MEMORY.md"]) == []
    assert TEA in home.given("Which tea do I prefer?")
    assert len(sessions(home.workspace.vault)) == 4, "transcripts stay"
    assert home.tend() is None
