"""The daily upkeep archives, merges, shortens and sums up, in one commit that an undo takes back, and only once."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent.memory.entry import EntryType, Scope, parse_entry
from agent.memory.upkeep.lifecycle import plan
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.memory.days import days
from tests.vaults import git

KINDS = [
    (EntryType.CHAT_TURN, Scope.USER, 30),
    (EntryType.CHAT_TURN, Scope.CHAT, 14),
    (EntryType.AUTO_CAPTURE, Scope.USER, 90),
    (EntryType.AUTO_FLUSH, Scope.USER, 90),
]


@pytest.mark.parametrize(("kind", "scope", "lasts"), KINDS)
def test_what_has_expired_moves_to_the_archive(tmp_path: Path, kind: EntryType, scope: Scope, lasts: int) -> None:
    home = days(tmp_path)
    path = home.keep(replace(home.entry("A thing that was so", kind), scope=scope))
    before = home.vault.read(path)
    home.pass_days(lasts - 0.5)
    assert home.tend()[0].report.archived == ()
    home.pass_days(1)
    assert home.tend()[0].report.counts["archived"] == 1
    assert home.vault.read(path) is None
    assert home.vault.read(f"archive/{path}") == before


def test_workflows_that_earlier_versions_kept_go_to_the_archive_at_once(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry("Task: write a sheet\n\n1. vault_read", EntryType.WORKFLOW_TRACE))
    assert home.tend()[0].report.counts["archived"] == 1
    assert home.vault.read(path) is None and home.vault.read(f"archive/{path}")


@pytest.mark.parametrize("kind", [EntryType.USER_EXPLICIT, EntryType.RESEARCH, EntryType.REFLECTION])
def test_what_was_to_be_remembered_stays_for_good(tmp_path: Path, kind: EntryType) -> None:
    home = days(tmp_path)
    path = home.keep(home.entry("Anna's birthday is 3 May", kind))
    home.pass_days(3_000)
    home.tend()
    assert home.vault.read(path) is not None


def test_an_entry_may_say_itself_when_it_expires(tmp_path: Path) -> None:
    home = days(tmp_path)
    soon = home.clock.now() + timedelta(days=2)
    path = home.keep(replace(home.entry("The parking code is blue this week"), expires=soon))
    home.pass_days(1)
    home.tend()
    assert home.vault.read(path) is not None
    home.pass_days(1.1)
    home.tend()
    assert home.vault.read(path) is None and home.paths("archive/entries/")


def test_the_settings_decide_how_long(tmp_path: Path) -> None:
    home = days(tmp_path, chat_turn_user_days=2)
    path = home.say("The train was late")
    home.pass_days(3)
    home.tend()
    assert home.vault.read(path) is None


def test_entries_that_say_the_same_become_one_that_names_the_others(tmp_path: Path) -> None:
    home = days(tmp_path)
    old = home.keep(home.entry("Anna likes green tea in the morning"))
    home.pass_days(1)
    new = home.keep(home.entry("Anna likes green tea in the morning."))
    home.keep(home.entry("Ben likes green tea in the morning"))
    old_entry = parse_entry(home.vault.read(old) or b"")
    assert old_entry is not None
    home.tend()
    entry = parse_entry(home.vault.read(new) or b"")
    assert entry is not None
    assert entry.supersedes == old_entry.id
    assert set(old_entry.evidence) <= set(entry.evidence)
    assert home.vault.read(old) is None and home.vault.read(f"archive/{old}") is not None
    assert len(home.paths("entries/")) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The rent of the flat in Berlin is 900 euros a month", "The rent of the flat in Berlin is 950 euros a month"),
        ("Anna eats fish on Fridays with her family", "Anna never eats fish on Fridays with her family"),
        ("我妹妹住在里昂的老城区", "我妹妹住在巴黎的老城区"),
    ],
)
def test_what_differs_in_the_point_is_not_merged(tmp_path: Path, one: str, other: str) -> None:
    home = days(tmp_path)
    home.keep(home.entry(one))
    home.pass_days(1)
    home.keep(home.entry(other))
    home.tend()
    assert len(home.paths("entries/")) == 2


@pytest.mark.parametrize("change", [{"type": EntryType.REFLECTION}, {"scope": Scope.CHAT}, {"sender_id": "ben"}])
def test_what_is_of_another_kind_or_person_is_not_merged(tmp_path: Path, change: dict[str, object]) -> None:
    home = days(tmp_path)
    home.keep(home.entry("Anna likes green tea in the morning"))
    home.keep(replace(home.entry("Anna likes green tea in the morning"), **change))  # type: ignore[arg-type]
    home.tend()
    assert len(home.paths("entries/")) == 2


def test_it_is_one_commit_with_a_report_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    home = days(tmp_path)
    paths = [home.say(f"Story number {number} about the lighthouse") for number in range(3)]
    home.keep(home.entry("Anna likes green tea in the morning"))
    home.pass_days(40)
    home.keep(home.entry("Anna likes green tea in the morning"))
    before, commits = git(home.root, "rev-parse", "HEAD^{tree}"), home.commits()
    upkeep, outcome = home.tend()
    assert home.commits() == commits + 1
    report = home.text(f"daily/{home.clock.now():%Y-%m-%d}.md")
    assert "Memory upkeep" in report and "- expired, now in the archive (3): [[" in report
    assert upkeep.report.counts == {"archived": 3, "merged": 1, "shortened": 0, "added": 0}
    assert outcome.commit
    undo(home.vault, Selection((outcome.commit,)))
    assert git(home.root, "rev-parse", "HEAD^{tree}") == before
    assert home.tend()[0].report.is_empty, "what a person has brought back stays"
    assert all(home.vault.read(path) is not None for path in paths)


def test_a_second_run_finds_nothing_to_do(tmp_path: Path) -> None:
    home = days(tmp_path)
    for number in range(4):
        home.say(f"We decided to use Postgres for the warehouse. Day {number} was fine.")
        home.pass_days(1)
    home.pass_days(40)
    home.say("The boat is red")
    home.tend()
    commits = home.commits()
    assert home.tend()[0].report.is_empty
    assert home.commits() == commits


def test_moving_many_notes_is_no_mass_deletion(tmp_path: Path) -> None:
    home = days(tmp_path)
    for number in range(45):
        home.say(f"Story number {number} about the lighthouse keeper {number * 7}")
    home.pass_days(40)
    assert home.tend()[0].report.counts["archived"] == 45
    assert len(home.paths("archive/entries/")) == 45


def test_a_dry_run_says_the_same_and_changes_nothing(tmp_path: Path) -> None:
    home = days(tmp_path)
    home.say("The train was late")
    home.pass_days(40)
    commits = home.commits()
    dry = plan(home.vault, home.settings, "en", home.clock.now())
    assert home.commits() == commits and dry.report.archived
    assert home.tend()[0].report == dry.report


def test_what_a_person_has_corrected_is_neither_archived_nor_merged(tmp_path: Path) -> None:
    home = days(tmp_path)
    path = home.say("Anna likes green tea in the morning")
    home.by_hand(path, home.text(path).replace("green", "black"))
    home.pass_days(400)
    home.tend()
    assert "black tea" in home.text(path)


def test_a_note_that_is_no_entry_is_left_alone(tmp_path: Path) -> None:
    home = days(tmp_path, {"entries/2020/01/2020-01-01-mine.md": "my own\n", "entries/broken.md": "---\n: [\n---\nx\n"})
    home.pass_days(4_000)
    assert home.tend()[0].report.is_empty


def test_both_switches_off_means_nothing_happens(tmp_path: Path) -> None:
    home = days(tmp_path, lifecycle=False, long_term=False)
    for _ in range(4):
        home.say("Anna likes green tea")
    home.pass_days(400)
    assert home.tend()[0].requests == ()


def test_without_the_lifecycle_facts_still_come_into_long_term_memory(tmp_path: Path) -> None:
    home = days(tmp_path, lifecycle=False)
    for _ in range(3):
        home.say("Anna likes green tea")
        home.pass_days(1)
    home.tend()
    assert "Anna likes green tea" in home.memory
    assert len(home.paths("entries/")) == 3


def test_without_long_term_no_fact_comes_in(tmp_path: Path) -> None:
    home = days(tmp_path, long_term=False)
    for _ in range(3):
        home.say("Anna likes green tea")
    home.tend()
    assert home.memory == ""
