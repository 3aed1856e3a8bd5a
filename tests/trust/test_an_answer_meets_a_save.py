"""An editor saves an older or newer version of a note just when its answer is written: no word of the person's goes,
the request is answered once while its words are the same, and nothing is asked that the person did not ask."""

from pathlib import Path

import pytest

from agent.markdown.note import Note
from tests.stories.agents import furnish, script
from tests.trust.editor import STYLES
from tests.trust.inbox_saves import MOMENTS, Meeting, meeting
from tests.trust.test_requests_in_notes_are_answered_once import PLAIN
from tests.vaults import git, write

ASKED = "Which tea?\n"
PLAN = "# Plan\n\n- [ ] @agent buy tea\n- [ ] mine\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for key, value in PLAIN.items():
        monkeypatch.setenv(key, value)
    return furnish(tmp_path, monkeypatch.setenv, script(tmp_path / "script.json", *["Here it is."] * 40))


def stays(moment: str) -> int:
    """How many answers stay in a note whose older version is saved at this moment: one that is there by then goes."""
    return 1 if moment in {"before", "read", "trade"} else 0


def status(at: Meeting, path: str) -> str:
    return Note.parse((at.root / path).read_bytes()).string("status") or ""


OVER = [pytest.param(each, marks=() if each == "replace" else pytest.mark.chaos) for each in STYLES if each != "append"]


@pytest.mark.parametrize("style", OVER)
@pytest.mark.parametrize("moment", MOMENTS)
def test_an_older_version_is_saved(root: Path, moment: str, style: str) -> None:
    with meeting(root) as at:
        note, plan = "inbox/tea.md", "plan.md"
        at.ask(note, ASKED)
        at.meet(moment, lambda: STYLES[style](root / note, ASKED))
        assert (at.words(note), at.answers(note), at.at.runs()) == ([ASKED.strip()], stays(moment), 1)
        assert at.in_history(note) == 1
        at.ask(plan, PLAN)
        at.meet(moment, lambda: STYLES[style](root / plan, PLAN))
        assert at.words(plan) == [line for line in PLAN.splitlines() if line]
        assert (at.answers(plan), at.text(plan).count("- [x] @agent"), at.at.runs()) == (stays(moment),) * 2 + (2,)
        assert at.in_history(plan) == 1
        at.no_litter()


@pytest.mark.parametrize("style", [*OVER, "append"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_more_words_are_saved(root: Path, moment: str, style: str) -> None:
    with meeting(root) as at:
        note, plan = "inbox/tea.md", "plan.md"
        more, task = "\nAnd coffee?\n", "- [ ] @agent buy coffee\n"
        at.ask(note, ASKED)
        at.meet(moment, lambda: STYLES[style](root / note, more if style == "append" else ASKED + more))
        left = 1 if style != "append" and not stays(moment) else 2
        assert (at.words(note), at.answers(note), at.at.runs()) == ([ASKED.strip(), more.strip()], left, 2)
        text = at.text(note)
        assert text.index("tea?") < text.index("coffee?") < text.rindex("end of answer")
        assert left == 1 or text.index("tea?") < text.index("end of answer") < text.index("coffee?")
        at.ask(plan, PLAN)
        at.meet(moment, lambda: STYLES[style](root / plan, task if style == "append" else PLAN + task))
        assert at.words(plan) == [line for line in (PLAN + task).splitlines() if line]
        left = 1 if style != "append" and not stays(moment) else 2
        assert (at.answers(plan), at.text(plan).count("- [x] @agent"), at.at.runs()) == (left, left, 4)
        at.no_litter()


@pytest.mark.parametrize("moment", MOMENTS)
def test_words_elsewhere_and_in_the_header_are_saved(root: Path, moment: str) -> None:
    with meeting(root) as at:
        note, text = "inbox/tea.md", "---\ntags:\n- drinks\n---\nWhich tea?\n"
        at.ask(note, ASKED)
        at.meet(moment, lambda: STYLES["replace"](root / note, text))
        assert (at.words(note), at.answers(note), at.at.runs()) == ([ASKED.strip()], stays(moment), 1)
        assert Note.parse(at.text(note).encode()).strings("tags") == ("drinks",)
        assert status(at, note) == ("done" if stays(moment) else "")
        plan, text = "plan.md", PLAN.replace("# Plan", "# Great plan\n\nFor May.").replace("- [ ] mine", "- [x] mine")
        at.ask(plan, PLAN)
        at.meet(moment, lambda: STYLES["replace"](root / plan, text))
        assert at.words(plan) == [line for line in text.splitlines() if line]
        assert (at.answers(plan), at.at.runs()) == (stays(moment), 2)
        at.no_litter()


@pytest.mark.parametrize("moment", MOMENTS)
def test_another_question_is_saved(root: Path, moment: str) -> None:
    with meeting(root) as at:
        note, text = "inbox/tea.md", "Which green tea?\n"
        at.ask(note, ASKED)
        at.meet(moment, lambda: STYLES["replace"](root / note, text))
        assert at.words(note) == [text.strip()] and status(at, note) == "done" and at.at.runs() == 2
        assert at.text(note).rstrip().endswith("end of answer %%")
        at.no_litter()


def answered(at: Meeting, path: str = "inbox/tea.md", text: str = ASKED) -> None:
    """A request that has its answer."""
    at.ask(path, text)
    at.tell()
    at.at.rest()
    assert at.answers(path) == 1


def test_what_was_answered_is_not_answered_again_while_its_words_are_the_same(root: Path) -> None:
    note = root / "inbox" / "tea.md"
    with meeting(root) as at:
        answered(at)
        write(note, ASKED)
        at.at.rest()
        assert at.text("inbox/tea.md") == ASKED and "answered before" in at.at.inbox.problem and at.at.runs() == 1
        at.at.clock.advance(100 * 86_400.0)
        write(note, f"{ASKED}\n")
        at.at.rest()
        assert at.at.runs() == 1
        write(note, f"---\nstatus: pending\n---\n{ASKED}")
        at.at.rest()
        assert at.answers("inbox/tea.md") == 1 and at.at.runs() == 2 and not at.at.inbox.problem
        write(note, "Which green tea?\n")
        at.at.rest()
        assert at.answers("inbox/tea.md") == 1 and at.at.runs() == 3 and not at.at.inbox.problem


def test_a_task_beside_one_that_was_answered_is_answered(root: Path) -> None:
    with meeting(root) as at:
        answered(at, "plan.md", PLAN)
        write(root / "plan.md", f"{PLAN}- [ ] @agent buy coffee\n")
        at.at.rest()
        assert at.at.runs() == 2 and at.text("plan.md").count("- [x] @agent buy coffee") == 1


def test_an_answer_that_somebody_has_cleared_away_stays_away(root: Path) -> None:
    with meeting(root) as at:
        answered(at)
        cleared = f"---\nstatus: done\n---\n{ASKED}"
        write(root / "inbox" / "tea.md", cleared)
        at.at.rest()
        assert at.text("inbox/tea.md") == cleared and at.at.runs() == 1


def test_an_answer_that_was_undone_stays_away(root: Path) -> None:
    from agent.interfaces.cli.main import main

    with meeting(root) as at:
        answered(at)
        commit = git(root, "log", "-1", "--format=%H", "--grep", "inbox(done)").strip()
        assert main(["--vault", str(root), "undo", commit]) == 0
        at.at.rest()
        assert at.text("inbox/tea.md") == ASKED and at.at.runs() == 1
        write(root / "inbox" / "tea.md", ASKED + "\nBriefly.\n")
        at.at.rest()
        assert at.words("inbox/tea.md") == [ASKED.strip(), "Briefly."]
        assert (at.answers("inbox/tea.md"), at.at.runs()) == (1, 2)


def test_an_answered_note_may_have_another_name(root: Path) -> None:
    with meeting(root) as at:
        answered(at)
        (root / "inbox" / "tea.md").rename(root / "inbox" / "leaves.md")
        at.at.rest()
        write(root / "inbox" / "leaves.md", ASKED)
        at.at.rest()
        assert at.answers("inbox/leaves.md") == 0 and at.at.runs() == 1


def test_the_same_words_in_a_new_note_ask_anew(root: Path) -> None:
    with meeting(root) as at:
        answered(at)
        (root / "inbox" / "tea.md").unlink()
        at.at.rest()
        write(root / "inbox" / "tea.md", ASKED)
        at.at.rest()
        assert at.answers("inbox/tea.md") == 1 and at.at.runs() == 2
