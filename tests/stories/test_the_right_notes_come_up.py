"""What a task is given in a vault that was lived in: the person's own words about it, few, whole, and each once."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.records import RunRequest
from agent.memory.recall.recaller import Remembered
from agent.runs.service import RunService
from agent.workspace.search_index import open_index
from tests.bench.gate import general_tasks
from tests.stories.agents import furnish, script, settings, tell
from tests.stories.lived_notes import AGENTS, EVERYDAY, GENERAL, NOTES, ORDINARY
from tests.vaults import git, write


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunService]:
    folder = tmp_path_factory.mktemp("lived")
    with pytest.MonkeyPatch.context() as patch:
        root = furnish(folder, patch.setenv)
        patch.setenv("VAULT_AGENT_MEMORY__CAPTURE", "off")
        for path, text in {**NOTES, **AGENTS}.items():
            write(root / path, text)
        (root / "tea.md").unlink()
        (root / "plan.md").unlink()
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "a year")
        own = settings(folder, script(folder / "script.json", after="I would take Kask & Son, as in the year before."))
        tell(root, own, "remember", "Ottilie moves to Tallinn in March")
        for asked in ("Which plumber is better?", "装修找谁？", "What about the beehives and the budget?"):
            tell(root, own, "ask", asked)
        workspace = open_workspace(root)
        with closing(open_index(workspace)) as index, closing(build_runs(workspace, index)) as runs:
            index.refresh()
            yield runs


def paths(found: Sequence[Remembered]) -> list[str]:
    return [each.path for each in found]


@pytest.mark.parametrize(("task", "path"), ORDINARY)
def test_ordinary_words_behind_a_question_hide_no_note(lived: RunService, task: str, path: str) -> None:
    assert path in paths(lived.passages(task).found)


@pytest.mark.parametrize("task", EVERYDAY)
def test_an_everyday_request_is_given_nothing_of_the_agent_s_own(lived: RunService, task: str) -> None:
    found = lived.passages(task).found
    assert found and len(found) <= 6
    told = {path for path in paths(found) if path.startswith("entries/") and "ottilie-moves" in path}
    assert set(paths(found)) - told <= {*NOTES}, paths(found)
    assert not any("Kask & Son, as in the year before" in each.text for each in found)


def test_general_tasks_are_given_nothing(lived: RunService) -> None:
    tasks = [*GENERAL, *general_tasks(2)[::4]]
    needless = [task for task in tasks if lived.passages(task).found]
    assert len(needless) <= len(tasks) // 10, needless


def test_a_passage_says_where_it_stands_and_a_short_note_is_whole(lived: RunService) -> None:
    (found, *_) = lived.passages("Which plumber should I take?").found
    assert found.model_text.startswith("[[house/Plumber]], lines 1–4 of 4\n# Plumber\n")
    assert "very clean" in found.text


def test_a_note_is_given_whose_name_or_alias_is_in_the_request(lived: RunService) -> None:
    assert "house/Heat pump.md" in paths(lived.passages("Order a filter for the Nordvik 7").found)
    assert "work/Budget 2027.md" in paths(lived.passages("Turn budget 2027 into slides").found)


@pytest.mark.parametrize(
    ("task", "only"),
    [
        ("What did Ottilie say about her things, going by my notes in talks?", "talks/"),
        ("Using the folder talks: what does Ottilie want?", "talks/"),
        ("家文件夹里写的膝盖的事是什么？", "家/"),
    ],
)
def test_words_that_say_where_narrow_to_that_folder(lived: RunService, task: str, only: str) -> None:
    found = paths(lived.passages(task).found)
    assert found and all(path.startswith((only, "entries/")) for path in found)


def test_a_folder_in_which_nothing_fits_is_no_wall(lived: RunService) -> None:
    assert "house/Plumber.md" in paths(lived.passages("Which plumber should I take, by the notes in work?").found)


def test_the_name_of_a_folder_may_be_a_word_like_any_other(lived: RunService) -> None:
    assert "garden/Beehives.md" in paths(lived.passages("When do I treat the beehives in the garden?").found)
    assert "work/Handover.md" in paths(lived.passages("Which keys does Helve have in the house?").found)


def test_words_that_say_when_raise_the_notes_of_that_time(lived: RunService) -> None:
    found = paths(lived.passages("What did Ottilie tell me in October 2025?").found)
    assert found[0] == "talks/2025-10-04.md"


def test_a_question_for_a_day_is_given_what_was_written_on_it(lived: RunService) -> None:
    root, today = lived.workspace.vault.place.root, lived.workspace.clock.now().date()
    days = [(today - timedelta(back)).isoformat() for back in (1, 3)]
    write(root / f"journal/{days[0]}.md", "Hung the shelf. Ate dumplings with Ana.\n")
    write(root / f"journal/{days[1]}.md", "下午带小雨去看牙。\n")
    lived.recall.library.refresh()
    for asked in ("What did I do yesterday?", "昨天我做了什么？"):
        assert [path for path in paths(lived.passages(asked).found) if "daily/" not in path] == [
            f"journal/{days[0]}.md"
        ]
    assert paths(lived.passages("三天前发生了什么？").found) == [f"journal/{days[1]}.md"]
    assert lived.passages("Who won the election yesterday?").found == ()
    both = paths(lived.passages("What did I eat yesterday? And which plumber should I take?").found)
    assert {f"journal/{days[0]}.md", "house/Plumber.md"} <= set(both)


def test_nothing_is_given_that_the_conversation_has(lived: RunService) -> None:
    task = "Which plumber should I take?"
    before = lived.passages(task).found
    assert "house/Plumber.md" in paths(before)
    session = lived.ask(RunRequest(task, Speaker("cli"))).session
    assert not {each.text for each in lived.passages(task, session).found} & {each.text for each in before}
    assert "garden/Greenhouse.md" in paths(
        lived.passages("And who can weld the frame of my greenhouse?", session).found
    )


def test_what_a_note_says_and_a_fact_says_too_is_given_once(lived: RunService) -> None:
    fact = "The boat shed key hangs behind the clock."
    root = lived.workspace.vault.place.root
    write(root / "house/Keys.md", f"# Keys\n\n{fact}\nThe cellar key is with Helve.\n")
    tell(root, {}, "remember", fact)
    lived.recall.library.refresh()
    found = lived.passages("Where is my boat shed key?").found
    assert sum(fact.rstrip(".") in each.text for each in found) == 1


def test_the_log_of_a_day_is_the_agent_s_and_a_line_below_it_the_person_s(lived: RunService) -> None:
    root = lived.workspace.vault.place.root
    (day,) = (root / "daily").glob("*.md")
    write(day, f"{day.read_text('utf-8')}\nThe otter came back to our pond at dusk.\n")
    lived.recall.library.refresh()
    (found, *_) = lived.passages("When did the otter come back to our pond?").found
    assert found.path == f"daily/{day.name}" and "dusk" in found.text and "plumber" not in found.text.casefold()


def test_what_a_person_said_in_a_conversation_comes_up_and_not_what_they_asked(lived: RunService) -> None:
    """Also where nothing is kept of conversations (`memory.capture: off`)."""
    said = "Please draft the invitation. Our zither tuner is called Aarne and lives in Rakvere."
    lived.ask(RunRequest(said, Speaker("cli")))
    lived.capturing.settle()
    lived.recall.library.refresh()
    found = lived.passages("What is our zither tuner called?").found
    assert [each.path.partition("/")[0] for each in found if "Aarne" in each.text] == ["sessions"]
    assert "No language model" not in "".join(each.text for each in found)
    asked = "Who in our family might own a theremin?"
    lived.ask(RunRequest(asked, Speaker("cli")))
    lived.recall.library.refresh()
    assert not any("theremin" in each.text for each in lived.passages(asked).found)


def test_a_passage_says_the_day_of_its_note(lived: RunService) -> None:
    root = lived.workspace.vault.place.root
    write(
        root / "talks/session four.md",
        "---\ndate: 2026-05-08\n---\n# Session four\n\nHedda went to the lighthouse yesterday.\n",
    )
    lived.recall.library.refresh()
    (found, *_) = lived.passages("When did Hedda go to the lighthouse?").found
    assert found.model_text.startswith("2026-05-08 · [[talks/session four]]")
