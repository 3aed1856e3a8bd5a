"""Every use is a row of a note that only grows; the counts follow from the rows, and what follows is the plan's."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UserError
from agent.skills.history.feedback import (
    RunWrites,
    SkillHistory,
    corrected_runs,
    put_aside,
    record_corrections,
    record_opinion,
)
from agent.skills.history.stats import Stats, count_uses
from agent.skills.history.usage import Activated, Opinion, Use, history_path, load_uses, parse_uses, record_uses
from agent.skills.reading.skill import Skill
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.fakes import FakeClock
from tests.skills.shelves import library, text
from tests.vaults import git, make_vault, write

NOW = FakeClock().now()
AGENT = Stamp("agent")


def use(number: int, outcome: str = "finished", feedback: Opinion = "", how: Activated = "auto") -> Use:
    when = NOW + timedelta(minutes=number)
    return Use("tea", when, f"r{number}", "sessions/s.md", how, 0.65, "intent a|b", outcome, 3, feedback)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path, {"skills/learned/tea/SKILL.md": text("tea"), "skills/learned/tea/scripts/x.sh": "x"},
                      clock=FakeClock())  # fmt: skip


def learned(vault: Vault) -> list[Skill]:
    return list(library(vault.place.root.parent).snapshot().skills)


def test_rows_are_read_back_as_they_were(vault: Vault) -> None:
    first, second = use(1), use(2, "failed", "not_helpful")
    assert record_uses(vault, [first], AGENT) and record_uses(vault, [second], AGENT)
    assert load_uses(vault, "tea") == (first, second)
    note = (vault.place.root / history_path("tea")).read_text()
    assert (
        note.count("# How tea was used") == 1
        and note.count("| --- | --- | --- | --- | --- | --- | --- | --- | --- |") == 1
    )


def test_one_commit_holds_all_skills_of_a_run(vault: Vault) -> None:
    before = git(vault.place.root, "rev-list", "--count", "HEAD")
    record_uses(vault, [use(1), Use("other", NOW, "r1")], AGENT)
    assert int(git(vault.place.root, "rev-list", "--count", "HEAD")) == int(before) + 1


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_signal_or_run_can_break_out_of_its_row(signals: str, run: str) -> None:
    row = Use("tea", NOW, run.replace("\\", "/"), "", "auto", 0.5, signals, "finished", 1).row
    assert "\n" not in row
    (found,) = parse_uses("tea", f"{row}\n".encode("utf-8", "replace")) if row.isprintable() else (None,)
    assert found is None or (found.outcome, found.tools) == ("finished", 1)


def test_what_a_person_breaks_is_skipped_and_the_rest_counts(vault: Vault) -> None:
    data = f"# x\n\n{use(1).row}\n| broken | row |\n| a | b | c | d | e | f | g | h | i |\n{use(2).row}\n{use(2).row}\n"
    assert parse_uses("tea", data.encode()) == [use(1), use(2)]


def test_the_counts() -> None:
    rows = [use(1), use(2, "failed"), use(3, feedback="helpful"), use(4, how="manual"), use(5, feedback="corrected")]
    found = count_uses(rows)
    assert (found.uses, found.auto, found.successes, found.helpful, found.corrected) == (5, 4, 1, 1, 1)
    assert found.success_rate == 1 / 3 and found.helpful_rate == 1.0
    assert Stats().success_rate is None and Stats().factor == 1.0


@pytest.mark.parametrize(
    ("helpful", "not_helpful", "silent", "factor"),
    [(5, 0, 0, 1.2), (4, 0, 0, 1.0), (1, 0, 4, 1.2), (4, 1, 0, 1.0), (5, 1, 0, 1.2), (1, 3, 1, 0.6), (0, 2, 3, 1.0),
     (0, 3, 2, 0.6), (0, 0, 9, 1.0)],
)  # fmt: skip
def test_feedback_counts_from_five_uses_on(helpful: int, not_helpful: int, silent: int, factor: float) -> None:
    counts: tuple[tuple[Opinion, int], ...] = (("helpful", helpful), ("not_helpful", not_helpful), ("", silent))
    opinions = [opinion for opinion, count in counts for _ in range(count)]
    assert count_uses(use(number, feedback=opinion) for number, opinion in enumerate(opinions)).factor == factor


def test_a_word_goes_to_the_last_use_without_one_else_counts_by_itself(vault: Vault) -> None:
    record_uses(vault, [use(1), use(2)], AGENT)
    assert [record_opinion(vault, "tea", "helpful", NOW + timedelta(hours=n), f"t{n}").run for n in range(3)] == [
        "r2",
        "r1",
        "t2",
    ]
    found = count_uses(load_uses(vault, "tea"))
    assert (found.uses, found.helpful) == (3, 3)


def test_a_word_about_a_run_replaces_an_earlier_one(vault: Vault) -> None:
    record_uses(vault, [use(1)], AGENT)
    record_opinion(vault, "tea", "helpful", NOW + timedelta(hours=1), "x", "r1")
    record_opinion(vault, "tea", "not_helpful", NOW + timedelta(hours=2), "x", "r1")
    found = count_uses(load_uses(vault, "tea"))
    assert (found.uses, found.helpful, found.not_helpful) == (1, 0, 1)
    with pytest.raises(UserError, match="did not use"):
        record_opinion(vault, "tea", "helpful", NOW, "x", "r9")


def test_an_edit_within_a_day_corrects_the_run_that_wrote_the_note(vault: Vault) -> None:
    wrote = [RunWrites("r1", NOW, frozenset({"a.md"})), RunWrites("r2", NOW, frozenset({"b.md"}))]
    assert corrected_runs("a.md", NOW + timedelta(hours=23), wrote) == ("r1",)
    assert corrected_runs("a.md", NOW + timedelta(hours=25), wrote) == ()
    assert corrected_runs("a.md", NOW - timedelta(minutes=1), wrote) == ()
    record_uses(vault, [use(1), use(2, feedback="helpful")], AGENT)
    assert [row.run for row in record_corrections(vault, ["tea", "none"], ["r1", "r2"], NOW + timedelta(hours=1))] == [
        "r1"
    ]
    assert record_corrections(vault, ["tea"], ["r1"], NOW + timedelta(hours=2)) == ()
    assert count_uses(load_uses(vault, "tea")).corrected == 1


def test_five_bad_uses_in_a_row_put_a_learned_skill_aside_and_undo_brings_it_back(vault: Vault) -> None:
    history, root = SkillHistory(vault), vault.place.root
    record_uses(vault, [use(0), *(use(number, "failed") for number in range(1, 5))], AGENT)
    assert put_aside(vault, learned(vault), history, NOW) == ()
    record_uses(vault, [use(5, feedback="not_helpful")], AGENT)
    (gone,) = put_aside(vault, learned(vault), history, NOW + timedelta(hours=1))
    assert (root / "skills/deprecated/tea/SKILL.md").is_file() and (
        root / "skills/deprecated/tea/scripts/x.sh"
    ).is_file()
    assert not (root / "skills/learned/tea/SKILL.md").exists() and gone.commit is not None
    assert not learned(vault) and not library(root.parent).snapshot().problems
    assert gone.commit[:12] in gone.announcement and "no use" in gone.announcement
    git(root, "revert", "--no-edit", gone.commit)
    assert put_aside(vault, learned(vault), history, NOW) == (), "it begins anew"
    record_uses(vault, [use(70 + number, "failed") for number in range(5)], AGENT)
    (again,) = put_aside(vault, learned(vault), history, NOW + timedelta(hours=3))
    assert again.path == "skills/deprecated/tea/SKILL.md"


def test_a_persons_own_skill_is_never_put_aside(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"skills/tea/SKILL.md": text("tea")})
    record_uses(vault, [use(number, "failed") for number in range(9)], AGENT)
    assert put_aside(vault, learned(vault), SkillHistory(vault), NOW) == ()


def test_a_good_use_ends_the_row_and_a_waiting_one_does_not() -> None:
    bad = [use(number, "failed") for number in range(4)]
    assert count_uses([*bad, use(4, "needs_approval"), use(5, "failed")]).streak == 5
    assert count_uses([*bad, use(4), use(5, "failed")]).streak == 1
    assert count_uses([*bad, use(4, "failed", "helpful")]).streak == 0


def test_counts_are_kept_until_the_note_changes(vault: Vault) -> None:
    history = SkillHistory(vault)
    assert history.stats("tea") == Stats()
    record_uses(vault, [use(number, feedback="helpful") for number in range(5)], AGENT)
    assert history.stats("tea") is history.stats("tea") and history.factors(["tea", "x"]) == {"tea": 1.2}
    record_uses(vault, [use(9)], AGENT)
    assert history.stats("tea").uses == 6


def test_the_factors_of_many_are_those_of_each(vault: Vault) -> None:
    names = ("tea", "tea.md", "coffee", "nobody", "周报")
    told: tuple[tuple[str, Opinion], ...] = (("tea", "helpful"), ("coffee", "not_helpful"), ("周报", "helpful"))
    for name, opinion in told:
        record_uses(vault, [Use(name, NOW, f"r{number}", feedback=opinion) for number in range(5)], AGENT)
    write(vault.place.root / "skills/history/nobody", "no history")
    history = SkillHistory(vault)
    assert history.factors(names) == {"tea": 1.2, "coffee": 0.6, "周报": 1.2}
    assert {name: history.stats(name).factor for name in names} == {
        **dict.fromkeys(names, 1.0),
        **history.factors(names),
    }
    record_uses(vault, [Use("tea", NOW, f"s{number}", feedback="not_helpful") for number in range(20)], AGENT)
    assert history.factors(names) == {"tea": 0.6, "coffee": 0.6, "周报": 1.2}
