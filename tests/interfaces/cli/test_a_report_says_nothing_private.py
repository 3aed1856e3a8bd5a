"""`doctor --report`: versions, settings, checks and places of failures, and no word of the person's."""

import logging
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agent.app.diagnostics.report import without_names
from agent.clock import SystemClock
from agent.config.crashes import keep_crash, load_crashes
from agent.config.directories import directories
from agent.config.logs import report_from
from agent.errors import UserError
from agent.interfaces.cli.main import main
from agent.texts import Sentence
from tests.vaults import write

AT = datetime(2026, 12, 1, tzinfo=UTC)
PRIVATE = ("Zebedee", "zebra-stripes", "sk-live-zzzzzzzzzzzzzzzzzzzz", "zanzibar.example")


@pytest.fixture(autouse=True)
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Zebedee")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "z@zanzibar.example")
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "Zebedee's vault"
    assert main(["init", "--yes", str(root), "--no-hooks"]) == 0
    capsys.readouterr()
    return root


def test_it_holds_what_helps_and_no_word_of_the_persons(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault / "zebra-stripes.md", "---\nbad: [\n---\nZebedee likes them\n")
    write(vault / "jobs/zebra-stripes.md", "---\ntype: job\non: every zebra-stripes\n---\nAsk Zebedee\n")
    write(vault / "skills/zebra-stripes/SKILL.md", "---\nname: Zebedee\n---\n")
    monkeypatch.setenv("VAULT_AGENT_LLM__API_KEY", PRIVATE[2])
    monkeypatch.setenv("VAULT_AGENT_LLM__BASE_URL", "https://zanzibar.example/v1")
    monkeypatch.setenv("VAULT_AGENT_LLM__MODEL", "zebra-stripes")
    file = tmp_path / "report.md"
    main(["--vault", str(vault), "doctor", "--report", str(file)])
    assert str(file) in capsys.readouterr().err
    said = file.read_text("utf-8")
    assert not [word for word in (*PRIVATE, str(tmp_path)) if word.casefold() in said.casefold()]
    assert file.stat().st_mode & 0o777 == 0o600
    assert "`llm.model`: set (environment)" in said and "`llm.base_url`: set" in said
    assert re.search(r"^- vault-agent \d", said, re.MULTILINE) and "- click " in said
    assert "**jobs**: 1 notes cannot run" in said or "**jobs**: 1 note" in said


def test_a_file_that_is_there_is_not_written_over(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.md"
    write(file, "mine")
    assert main(["--vault", str(vault), "doctor", "--report", str(file)]) == 2
    assert file.read_text("utf-8") == "mine" and "name another file" in capsys.readouterr().err


def test_a_bug_of_a_command_is_noted_without_its_words(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise LookupError("Zebedee said so")

    monkeypatch.setattr("agent.interfaces.cli.doctor.diagnose", broken)
    assert main(["--vault", str(vault), "doctor"]) == 70
    assert "--report FILE" in capsys.readouterr().err
    (kept,) = load_crashes(directories().crashes)
    assert kept.startswith("builtins.LookupError\n  agent/interfaces/cli/main.py:") and "Zebedee" not in kept
    assert str(tmp_path) not in kept


def test_what_a_part_of_the_daemon_logs_is_kept_once_with_its_times(tmp_path: Path) -> None:
    logger = logging.getLogger("agent")
    before = logger.level, logger.propagate, logger.handlers[:]
    try:
        logger.handlers.clear()
        report_from("warning", tmp_path / "crashes", SystemClock())
        for error in (ValueError("Zebedee"), ValueError("zebra"), UserError("foreseen")):
            try:
                raise error
            except (ValueError, UserError):
                logger.warning("the part failed", exc_info=True)
    finally:
        logger.setLevel(before[0])
        logger.propagate, logger.handlers[:] = before[1], before[2]
    assert [kept.count("seen ") for kept in load_crashes(tmp_path / "crashes")] == [2]


def test_a_folder_keeps_the_last_twenty(tmp_path: Path) -> None:
    for number in range(25):
        kind = type(f"Error{number}", (Exception,), {})
        keep_crash(tmp_path, kind("Zebedee"), AT)
    assert len(load_crashes(tmp_path)) == 20
    for _ in range(30):
        keep_crash(tmp_path, ValueError(), AT)
    assert load_crashes(tmp_path)[0].count("seen ") == 20


@given(some.text(), some.text(min_size=1), some.integers())
def test_only_sentences_of_the_program_are_shown(words: str, name: str, number: int) -> None:
    assert without_names(f"x{words}") == "…"
    assert without_names(Sentence("{path} is there already", path=f"x{name}")) == "… is there already"
    assert without_names(Sentence("{count} notes cannot run", count=number)) == f"{number} notes cannot run"
