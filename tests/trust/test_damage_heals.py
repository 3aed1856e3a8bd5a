"""Promise 19: damage heals. Any file of the cache or the state may be damaged: no command fails as a bug, no answer is
wrong, and what was derived is whole again without a manual step. What grants something grants nothing when damaged."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from tests.trust.lived_in import COMMANDS, HARMS, Home, furnished, harm, some


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("NO_COLOR", "1")
        yield furnished(tmp_path_factory.mktemp("lived"), patch.setenv)


@pytest.mark.parametrize("count", [12, pytest.param(300, marks=pytest.mark.chaos)])
def test_a_damaged_cache_gives_right_answers_and_is_whole_again(home: Home, count: int) -> None:
    home.put_back()
    right = home.answers()
    assert all(hits and not degraded for hits, degraded in right), right
    files = home.files("cache")
    for number in range(count):
        chance = random.Random(f"cache {number}")
        name, kind = chance.choice(files), chance.choice(HARMS)
        case = f"{number}: {kind} {name}"
        home.damaged(name, kind, chance)
        check_answers(home, right, case)
        home.damaged(name, kind, chance)
        for words in some(chance, 1 if count < 100 else 4):
            home.run(*words).check()


def check_answers(home: Home, right: list[tuple[list[str], bool]], case: str) -> None:
    """The first answers are right or say that they are degraded; the next ones are right and say nothing."""
    for (hits, degraded), (wanted, _) in zip(home.answers(), right, strict=True):
        assert degraded or hits == wanted, case
    assert home.answers() == right, case


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.chaos)])
def test_a_damaged_state_grants_nothing_and_stops_no_command(home: Home, count: int) -> None:
    files = home.files("state")
    for number in range(count):
        chance = random.Random(f"state {number}")
        name, kind = files[number % len(files)] if count > 100 else chance.choice(files), chance.choice(HARMS)
        home.damaged(name, kind, chance)
        case = f"{number}: {kind} {name}"
        for words in some(chance, 1 if count < 100 else 4):
            home.run(*words).check()
        assert not (home.root / "rules/tea.md").exists(), f"approved by damage: {case}"
        check_queued(home, name, kind, case)


def check_queued(home: Home, name: str, kind: str, case: str) -> None:
    """The write that waits is in the vault, still waits, or is named as one that cannot be carried out."""
    if "/queue/" in name and kind == "remove":
        return
    vault = open_workspace(home.root).vault
    waits = vault.writer.queue.count() + len(vault.writer.queue.failed())
    assert (home.root / "queued.md").exists() or waits, case


def test_commands_outlive_a_state_in_which_nothing_can_be_read(home: Home) -> None:
    home.put_back()
    for name in home.files("state"):
        if name.endswith((".json", ".jsonl", ".sqlite", ".sqlite-wal", ".db")) and "/queue/" not in name:
            harm(home.folder / "home" / name, "random page", random.Random(name))
    for words in COMMANDS:
        home.run(*words).check()


@pytest.mark.parametrize("kind", ["zero page", "empty", "folder", "random page"])
def test_a_damaged_note_of_where_the_vault_lies_is_written_again(home: Home, kind: str) -> None:
    name = next(name for name in home.files("state") if name.endswith("/root"))
    home.damaged(name, kind, random.Random(kind))
    home.run("log", "-n", "1").check()
    assert (home.folder / "home" / name).read_text().strip() == str(home.root)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("of", ["cache", "state"])
def test_a_file_that_may_not_be_read_ends_no_command(home: Home, of: str) -> None:
    for name in home.files(of):
        home.put_back()
        (home.folder / "home" / name).chmod(0)
        home.run("status").check()


def test_the_harness_notices_a_wrong_answer(home: Home) -> None:
    home.put_back()
    right = home.answers()
    wrong = [([*hits[::-1], "more.md"], degraded) for hits, degraded in right]
    with pytest.raises(AssertionError):
        check_answers(home, wrong, "planted")


def test_every_file_of_a_lived_in_machine_is_among_those_that_are_damaged(home: Home) -> None:
    names = {Path(name).name.partition(".")[0].rstrip("-0123456789") for name in home.files("state")}
    assert {
        "journal",
        "records",
        "daemon",
        "foreign-text",
        "provenance",
        "forgotten",
        "root",
        "writer",
        "approvals",
        "ledger",
    } <= names
    kept = " ".join((*home.files("state"), *home.files("cache")))
    assert all(part in kept for part in ("/runs/", "/queue/", "/reviewed/", "/metrics/", "/past/", "/index/", "spend/"))
