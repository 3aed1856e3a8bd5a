"""The life of a variant: proposed, on trial, kept, dropped, stopped, rolled back; each in a commit that says why."""

from pathlib import Path

import pytest

from agent.asking.answers import settle_proposals
from agent.growth.lessons.lesson_log import LogRow, append_rows, load_log
from agent.growth.lessons.trials import write_log
from agent.growth.lessons.verdict import count_trial
from agent.markdown.note import Note
from agent.runs.registry import run_registry
from agent.skills.history.usage import Use, history_path, load_uses
from agent.skills.variants.variant import trial_label
from agent.vault.history.find import commits
from tests.growth.mutations.lab import (
    BODY,
    FEWER,
    NEW_WAY,
    OTHER_STEP,
    SKILL,
    TEXT,
    WELL,
    Lab,
    Proposer,
    answer,
    lab,
)
from tests.remotes import git_as, shared_with_mallory
from tests.vaults import git, write

NOTE = "skills/mutations/plan-week-1.md"
LOSES, WINS = [True, False] * 30, [True] * 60


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return lab(tmp_path, monkeypatch, WELL)


def test_a_small_change_of_the_agents_own_skill_goes_on_trial(made: Lab) -> None:
    before = len(made.subjects())
    assert made.propose() == [NOTE]
    assert made.subjects()[0] == "skills(trial): plan-week, variant 1"
    assert len(made.subjects()) == before + 1, "one commit"
    assert commits(made.workspace.vault)[0].actor == "job:growth/mutations"
    note = made.text(NOTE)
    assert "-2. Take the best 5 points." in note and "+2. Take the best 3 points." in note
    assert "Take the best 3 points instead of 5." in note and "This proves little" in note
    assert made.text(SKILL) == TEXT, "the skill stays as it is"
    assert "plan-week: variant 1 is on trial" in made.day
    assert [row.event for row in logged(made)] == ["trial"]
    assert made.propose() == [], "one trial at a time"
    prompt = made.proposer.asked[0].messages[0].text
    assert "90%" in prompt and BODY in prompt and "18 uses" in prompt


def test_a_better_variant_becomes_the_skill(made: Lab) -> None:
    made.propose()
    made.try_out(LOSES, WINS)
    assert made.trial().status == "kept"
    note = Note.parse(made.text(SKILL).encode())
    assert note.body.strip() == FEWER
    assert "[[skills/mutations/plan-week-1]], better on trial (5 of 10 uses before, then 10 of 10)" in str(
        note.header["version_history"]
    )
    assert made.subjects()[0] == "skills(kept): plan-week, variant 1"
    assert made.skills.library.snapshot().named["plan-week"].reviewed, "it goes on being used"
    assert "status: kept" in made.text(NOTE) and "It succeeded in 10 of 10 uses" in made.text(NOTE)
    assert "variant 1 is kept" in made.day


def test_a_variant_that_is_worse_is_dropped_with_its_reason(made: Lab) -> None:
    made.propose()
    assert made.try_out([True] * 60, [True, True, False] * 20) == 10, "after five uses of each"
    assert made.trial().status == "discarded"
    assert made.text(SKILL) == TEXT
    assert "in 4 of 5 uses, the skill as it is in 5 of 5: it was worse" in made.text(NOTE)
    (_, ended) = logged(made)
    assert ended.event == "discarded" and "4 of 5" in ended.why
    assert made.propose() == [], "it is left in peace for some days"
    made.clock.advance(8 * 86_400)
    assert made.propose() == [], "the same variant never comes again"
    assert logged(made)[-1].event == "nothing"


def test_a_trial_without_a_difference_ends_undecided(made: Lab) -> None:
    made.propose()
    assert made.try_out([True] * 30, [True] * 30) == 20
    assert made.trial().status == "inconclusive"
    assert "it was not better by enough" in made.text(NOTE)
    assert made.text(SKILL) == TEXT


def test_a_kept_variant_that_gets_worse_is_rolled_back_within_ten_uses(made: Lab) -> None:
    made.propose()
    made.try_out(LOSES, WINS)
    count = 0
    while made.trial().status == "kept" and count < 10:
        made.rated(False, trial_label(1, "kept"))
        made.mutations.settle()
        count += 1
    assert made.trial().status == "rolled_back" and count <= 5
    note = Note.parse(made.text(SKILL).encode())
    assert note.body.strip() == BODY
    assert len(note.header["version_history"]) == 3  # type: ignore[arg-type]
    assert made.skills.library.snapshot().named["plan-week"].reviewed
    assert made.skills.history.stats("plan-week").streak == 0, "the failures of the variant are not the skill's"
    assert (made.root / SKILL).exists() and not (made.root / "skills/deprecated").exists()


def test_a_kept_variant_that_stays_good_is_left_alone_after_some_uses(made: Lab) -> None:
    made.propose()
    made.try_out(LOSES, WINS)
    for _ in range(20):
        made.rated(True, trial_label(1, "kept"))
        made.mutations.settle()
    assert made.trial().status == "settled"
    assert "status: settled" in made.text(NOTE)


def test_the_persons_edit_of_the_skill_ends_the_trial_and_stands(made: Lab) -> None:
    made.propose()
    mine = TEXT.replace("Say them in order.", "Say them as a poem.")
    write(made.root / SKILL, mine)
    made.mutations.settle()
    assert made.trial().status == "stopped"
    assert made.text(SKILL) == mine
    assert "The skill was changed, so its trial is over" in made.text(NOTE)


def test_the_persons_edit_of_a_kept_skill_ends_the_watch(made: Lab) -> None:
    made.propose()
    made.try_out(LOSES, WINS)
    write(made.root / SKILL, made.text(SKILL) + "\nAnd smile.\n")
    made.mutations.settle()
    assert made.trial().status == "stopped"
    assert made.text(SKILL).endswith("And smile.\n")


@pytest.mark.parametrize("gone", [True, False])
def test_an_edited_or_removed_variant_is_not_followed(made: Lab, gone: bool) -> None:
    made.propose()
    note = made.root / NOTE
    if gone:
        note.unlink()
    else:
        note.write_text(made.text(NOTE).replace("2. Take the best 3 points.\n3.", "2. Take all points.\n3."), "utf-8")
    assert made.skills.trials.trials() == {}
    made.mutations.settle()
    assert made.trial().status == "stopped"
    assert logged(made)[-1].by == "person"


def test_undo_of_the_keeping_brings_the_skill_back_and_it_stays_trusted(made: Lab) -> None:
    made.propose()
    made.try_out(LOSES, WINS)
    git(made.root, "revert", "--no-edit", "HEAD")
    assert made.text(SKILL) == TEXT
    made.mutations.settle()
    assert made.trial().status == "rolled_back"
    assert made.skills.library.snapshot().named["plan-week"].reviewed
    assert logged(made)[-1].by == "person"


def test_a_crash_between_the_commit_and_the_record_is_finished(made: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    made.propose()
    with monkeypatch.context() as patch:

        def killed(*_: object) -> object:
            raise KeyboardInterrupt

        patch.setattr("agent.growth.lessons.trials.Trial.finish_planned", killed)
        with pytest.raises(KeyboardInterrupt):
            made.try_out(LOSES, WINS)
    assert made.trial().status == "trial"
    made.mutations.settle()
    assert made.trial().status == "kept"
    assert made.skills.library.snapshot().named["plan-week"].reviewed
    assert made.text("lessons/log.md").count("| kept |") == 1


def test_a_crash_after_the_end_was_written_is_no_other_end(made: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    made.propose()
    with monkeypatch.context() as patch:

        def killed(*_: object) -> object:
            raise KeyboardInterrupt

        patch.setattr("agent.growth.lessons.trials.save_trial", killed)
        with pytest.raises(KeyboardInterrupt):
            made.try_out([True] * 60, [False] * 60)
    assert made.trial().status == "trial"
    made.mutations.settle()
    assert made.trial().status == "discarded"
    assert made.text("lessons/log.md").count("| discarded |") == 1


def test_the_person_may_end_a_trial_in_its_note(made: Lab) -> None:
    made.propose()
    write(made.root / NOTE, made.text(NOTE).replace("status: trial", "status: stopped"))
    made.mutations.settle()
    assert made.trial().status == "stopped"


def test_rows_that_others_have_written_judge_nothing(made: Lab, tmp_path: Path) -> None:
    made.propose()
    git(made.root, "add", "-A")
    git(made.root, "commit", "-q", "--allow-empty", "-m", "all")
    mallory = shared_with_mallory(made.root, tmp_path)
    rows = "".join(
        Use("plan-week", made.clock.now(), f"x{number}", feedback="helpful" if number % 2 else "not_helpful",
            trial=trial_label(1, "variant" if number % 2 else "original")).row + "\n"
        for number in range(80)
    )  # fmt: skip
    history = history_path("plan-week")
    mallory.pushes({history: mallory.read(history) + rows})
    git_as(made.root, "Anna", "pull", "-q", "--no-rebase", "origin", "main")
    assert "x79" in made.text(history)
    made.mutations.settle()
    assert made.trial().status == "trial"
    assert made.text(SKILL) == TEXT


def test_while_another_process_settles_this_one_does_not(made: Lab) -> None:
    made.propose()
    write(made.root / SKILL, TEXT + "Mine.\n")
    with run_registry(made.workspace.vault).held("mutations"):
        assert made.mutations.settle() == ()
    assert len(made.mutations.settle()) == 1


def test_looking_again_counts_nothing_twice(made: Lab) -> None:
    made.propose()
    for arm in ("original", "variant", "original"):
        made.rated(True, trial_label(1, arm))
        made.mutations.settle()
        made.mutations.settle()
    history = made.root / history_path("plan-week")
    rows = history.read_text("utf-8")
    history.write_text(rows + "\n".join(rows.splitlines()[-3:]) + "\n", "utf-8")  # as a merge may leave them
    count = count_trial(load_uses(made.workspace.vault, "plan-week"), 1)
    assert (len(count.original), len(count.variant)) == (2, 1)


def test_a_late_opinion_counts_for_the_use_that_it_is_about(made: Lab) -> None:
    made.propose()
    first = made.use(True, trial_label(1, "original"))
    made.skills.person_says("plan-week", "not_helpful", first.run)
    count = count_trial(load_uses(made.workspace.vault, "plan-week"), 1)
    assert count.original == (False,)


def test_a_new_strategy_waits_for_a_yes(made: Lab) -> None:
    made.proposer = Proposer([answer(NEW_WAY, "parameter")])
    (asked,) = made.propose()
    assert asked.startswith("approvals/"), "it says A, and is D by its text"
    assert not (made.root / NOTE).exists()
    note = made.text(asked)
    assert (
        "May I try another way in every second use of plan-week?" in note and "First list what you do not know" in note
    )
    write(made.root / asked, note.replace("- [ ] approve", "- [x] approve"))
    settle_answers(made)
    assert made.trial().status == "trial"
    assert made.skills.trials.trials()["plan-week"].variant is not None
    assert [row.event for row in logged(made)] == ["proposed", "trial"]


def test_a_no_is_remembered(made: Lab) -> None:
    made.proposer = Proposer([answer(NEW_WAY, "strategy")])
    (asked,) = made.propose()
    write(made.root / asked, made.text(asked).replace("- [ ] reject", "- [x] reject"))
    settle_answers(made)
    assert logged(made)[-1].event == "refused"
    made.clock.advance(8 * 86_400)
    assert made.propose() == []


def test_in_autonomous_mode_a_new_strategy_is_tried_at_once(made: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__MUTATIONS__MODE", "autonomous")
    made.proposer = Proposer([answer(NEW_WAY, "strategy")])
    assert made.propose() == [NOTE]


def test_in_careful_mode_even_a_number_waits_for_a_yes(made: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__MUTATIONS__MODE", "careful")
    (asked,) = made.propose()
    assert asked.startswith("approvals/") and not (made.root / NOTE).exists()


def test_a_skill_that_the_person_has_edited_is_only_tried_after_a_yes(made: Lab) -> None:
    write(made.root / SKILL, TEXT.replace("Plans a week.", "Plans my week."))
    git(made.root, "commit", "-qam", "mine")
    skills = made.skills
    skills.library.review(skills.library.snapshot().named["plan-week"], made.clock.now(), "test")
    (asked,) = made.propose()
    assert asked.startswith("approvals/")


@pytest.mark.parametrize(("mode", "enabled"), [("off", "true"), ("usual", "false")])
def test_it_can_be_switched_off(made: Lab, monkeypatch: pytest.MonkeyPatch, mode: str, enabled: str) -> None:
    monkeypatch.setenv("VAULT_AGENT_GROWTH__MUTATIONS__MODE", mode)
    monkeypatch.setenv("VAULT_AGENT_GROWTH__ENABLED", enabled)
    assert made.propose() == []
    assert made.proposer.asked == []


def test_a_log_with_rows_of_former_versions_is_read(made: Lab) -> None:
    why = "1 of 3 past tasks came out well with it."
    row = LogRow(made.clock.now(), SKILL.removesuffix(".md"), "plan-week", "gate", "agent", why)
    write_log(made.workspace, append_rows(made.workspace.vault.home, [row], "en"), "gate, plan-week")
    assert [each.event for each in logged(made)] == ["gate"]
    assert made.propose() == [], "the skill is left in peace for some days"
    made.clock.advance(8 * 86_400)
    assert made.propose() == [NOTE]


def test_a_trial_of_a_former_version_goes_on_and_its_uses_count(made: Lab) -> None:
    made.propose()
    for arm in ("original", "variant", "original"):
        made.rated(arm == "variant", trial_label(1, arm))
    now = made.text(NOTE)
    former = now.replace("gain: 0.1\n", "rate: 0.864\ngain: 0.1\n").replace(
        "tolerance: 0.1\n", "tolerance: 0.1\nuses: 200\n"
    )
    former = former.replace(
        "\n## The instructions", "\n## What past tasks show\n\nNot measured.\n\n## The instructions"
    )
    assert len(former) > len(now) + 60
    write(made.root / NOTE, former)
    made.mutations.settle()
    assert made.skills.trials.trials()["plan-week"].variant is not None
    for _ in range(9):
        made.rated(True, trial_label(1, "variant"))
        made.rated(False, trial_label(1, "original"))
        made.mutations.settle()
    assert made.trial().status == "kept"
    assert "## What past tasks show" in made.text(
        NOTE
    ) and "in 10 of 10 uses, the skill before in 0 of 10" in made.text(NOTE)


def test_uses_without_a_word_of_the_person_decide_nothing(made: Lab) -> None:
    made.propose()
    for _ in range(15):
        made.use(False, trial_label(1, "variant"))
        made.use(True, trial_label(1, "original"))
        made.mutations.settle()
    assert made.trial().status == "trial"


def test_of_several_proposals_the_least_risk_is_tried(made: Lab) -> None:
    both = answer(OTHER_STEP, "step", "Say the reasons."), answer()
    made.proposer = Proposer([f"{both[0][:-1]}, {both[1][1:]}"])
    made.propose()
    assert "kind: parameter" in made.text(NOTE) and len(made.proposer.asked) == 1


def test_an_answer_that_cannot_be_read_is_asked_for_once_more_then_kept(made: Lab) -> None:
    made.proposer = Proposer(["I would not change anything."])
    assert made.propose() == []
    assert len(made.proposer.asked) == 2
    (row,) = logged(made)
    assert row.event == "nothing"
    made.clock.advance(8 * 86_400)
    made.proposer = Proposer(["Sorry.", answer()])
    assert made.propose() == [NOTE]


@pytest.mark.parametrize(
    "uses", [[True] * 9, [True] * 16 + [False] * 4, [True] * 40 + [False, True, False, True, False, True] * 2]
)
def test_a_skill_that_is_new_or_does_badly_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uses: list[bool]
) -> None:
    made = lab(tmp_path, monkeypatch, uses)
    assert made.mutations.candidates() == ()


def test_uses_in_which_a_stranger_spoke_make_no_variant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(tmp_path, monkeypatch, [True] * 12)
    assert len(made.mutations.candidates()) == 1
    for number in range(1, 6):
        made.runs = number
        made.talk(untrusted="a page of somebody")
    git(made.root, "commit", "-qam", "tainted")
    assert made.mutations.candidates() == (), "seven uses are left"


def test_a_note_that_arrives_puts_nothing_on_trial(made: Lab) -> None:
    made.propose()
    note = made.text(NOTE).replace("number: 1", "number: 7")
    write(made.root / "skills/mutations/plan-week-7.md", note)
    trials = made.skills.trials.trials()
    assert [trial.record.number for trial in trials.values()] == [1]


def test_everything_is_said_in_chinese_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = lab(tmp_path, monkeypatch, WELL, language="zh")
    made.propose()
    assert "# plan-week 的变体 1" in made.text(NOTE)
    assert "variant 1" not in made.day and "开始试用" in made.day
    made.try_out(LOSES, WINS)
    assert "变体 1 被保留" in made.day


def logged(made: Lab) -> tuple[LogRow, ...]:
    """What the log says of the skill."""
    return load_log(made.workspace.vault).of("plan-week")


def settle_answers(made: Lab) -> None:
    """What the daemon does with a ticked note."""
    settle_proposals(made.workspace.vault)
    made.mutations.settle()
