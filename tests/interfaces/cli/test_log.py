"""`vault-agent log`, as a person and as a script use it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UserError
from agent.interfaces.cli.main import main
from agent.interfaces.cli.time_format import format_ago
from agent.vault.change import Stamp
from agent.vault.history.typed_time import parse_time
from agent.vault.store import Vault
from tests.interfaces.cli.vaults import Captured, ask, edit, enter, tell
from tests.vaults import git, head, make_vault

NOTE = "---\nstatus: open\n---\n# Plan\n\n- [ ] Buy milk\n"
NOW = datetime(2026, 11, 21, 14, 12, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    made = make_vault(tmp_path, {"plan.md": NOTE, "sub/other.md": "o\n"})
    enter(monkeypatch, made, tmp_path / "home")
    return made


def test_log_says_who_when_and_what_in_the_notes_terms(vault: Vault, capsys: Captured) -> None:
    changed = NOTE.replace("[ ]", "[x]").replace("open", "done")
    made = edit(vault, "plan.md", changed, Stamp(run="01RUN", tool="edit"), "edit(plan): milk is bought")
    first, second = tell(capsys, "log").split("\n\n")
    assert first.splitlines()[0].startswith(f"{made[:8]}  just now (20")
    assert first.splitlines()[0].endswith("agent, run 01RUN, edit")
    assert first.splitlines()[1:3] == ["  edit(plan): milk is bought", "    edited: plan.md"]
    assert sorted(first.splitlines()[3:]) == ["      status: open → done", "      ticked: Buy milk"]
    assert second.splitlines()[0].endswith("Anna")


def test_log_gives_a_script_everything(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", NOTE.replace("[ ]", "[x]"), Stamp("job:day", "01RUN", "edit", "01SESSION"))
    document = ask(capsys, "log", "-n", "1")
    (commit,) = document["commits"] if isinstance(document["commits"], list) else []
    assert datetime.fromisoformat(commit.pop("when")).tzinfo is not None
    assert commit == {
        "commit": made,
        "actor": "job:day",
        "author": "vault-agent",
        "claims": None,
        "subject": "edit(notes): a note",
        "run": "01RUN",
        "tool": "edit",
        "session": "01SESSION",
        "undoes": [],
        "files": [{"kind": "edited", "path": "plan.md", "old_path": None, "changes": ["ticked: Buy milk"]}],
    }


def test_filters_and_their_end(vault: Vault, capsys: Captured) -> None:
    edit(vault, "a.md", "a\n", Stamp("job:day", "01RUN"))
    edit(vault, "b.md", "b\n", Stamp(run="02RUN"))

    def count(*args: str) -> int:
        found = ask(capsys, "log", *args)["commits"]
        assert isinstance(found, list)
        return len(found)

    assert count() == 3
    assert count("--job", "day") == count("--run", "02RUN") == count("--actor", "human") == count("a.md") == 1
    assert count("--since", "1h") == count("--since", "yesterday", "--until", "today") == 3
    assert count("--until", "1h") == count("--run", "02RUN", "--until", "1h") == 0
    assert count("sub") == count("sub/other.md") == 1
    assert "no change fits" in tell(capsys, "log", "--run", "02RUN", "--until", "1h")
    assert "no change here is of a run none" in tell(capsys, "log", "--run", "none", code=2)
    assert "there is more: -n 2" in tell(capsys, "log", "-n", "1")


def test_a_path_may_be_relative_to_where_one_is(
    vault: Vault, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(vault.place.root / "sub")
    assert "created: sub/other.md" in tell(capsys, "log", "other.md")
    assert "created: plan.md" in tell(capsys, "log", "plan.md")
    assert "not inside the vault" in tell(capsys, "log", "../../elsewhere", code=2)


def test_a_note_may_be_named_without_its_ending_and_one_that_never_was_is_said(vault: Vault, capsys: Captured) -> None:
    edit(vault, "sub/tea.md", "a\n", Stamp())
    (vault.place.root / "new.md").write_text("not committed yet\n")
    assert ask(capsys, "log", "sub/tea")["commits"] == ask(capsys, "log", "sub/tea.md")["commits"] != []
    assert "no change fits" in tell(capsys, "log", "new")
    assert "no change here is of a note or folder tee" in tell(capsys, "log", "tee", code=2)
    assert "no change fits" in tell(capsys, "log", "sub/tea", "--until", "1h")


def test_an_old_name_in_another_folder_is_still_told(vault: Vault, capsys: Captured) -> None:
    git(vault.place.root, "mv", "plan.md", "sub/plan.md")
    git(vault.place.root, "commit", "-q", "-m", "moved")
    assert "renamed: plan.md → sub/plan.md" in tell(capsys, "log", "sub/plan.md")
    assert head(vault.place.root)[:8] in tell(capsys, "log", "plan.md")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2h", NOW - timedelta(hours=2)),
        ("30m", NOW - timedelta(minutes=30)),
        ("1d", NOW - timedelta(days=1)),
        ("2 W", NOW - timedelta(weeks=2)),
        ("now", NOW),
        ("2026-11-20T08:30+02:00", datetime(2026, 11, 20, 6, 30, tzinfo=UTC)),
        ("2026-11-20T08:30Z", datetime(2026, 11, 20, 8, 30, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_people_write_them(text: str, meant: datetime) -> None:
    assert parse_time(text, NOW) == meant


def test_a_day_is_its_beginning_or_its_end() -> None:
    assert parse_time("today", NOW) < NOW < parse_time("today", NOW, end=True)
    assert parse_time("yesterday", NOW, end=True) < parse_time("today", NOW)
    whole = parse_time("2026-11-20", NOW, end=True) - parse_time("2026-11-20", NOW)
    assert timedelta(hours=23) < whole < timedelta(days=1)


def test_days_in_words_begin_and_end() -> None:
    assert parse_time("昨天", NOW) == parse_time("yesterday", NOW)
    assert parse_time("last week", NOW, end=True) - parse_time("上周", NOW) > timedelta(days=6, hours=22)
    assert parse_time("3 days ago", NOW).date() == (NOW - timedelta(days=3)).date()


@given(st.text(max_size=12))
def test_any_other_text_is_a_clear_error_or_a_time_with_an_offset(text: str) -> None:
    try:
        found = parse_time(text, NOW)
    except UserError as error:
        assert error.hint.startswith("a time looks like")
    else:
        assert found.tzinfo is not None


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (5, "just now"),
        (60, "1 minute ago"),
        (7200, "2 hours ago"),
        (86400 * 3, "3 days ago"),
        (86400 * 800, "2 years ago"),
    ],
)
def test_how_long_ago_is_said_in_one_unit(seconds: int, said: str) -> None:
    assert format_ago(NOW - timedelta(seconds=seconds), NOW) == said


def test_what_was_changed_in_a_note_is_said_in_the_persons_language(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "trip.md").write_text("# Trip\n", "utf-8")
    main(["commit"])
    (root / "trip.md").write_text("# Trip\n\nSee [[hotel]].\n", "utf-8")
    main(["commit"])
    monkeypatch.setenv("VAULT_AGENT_VAULT__LANGUAGE", "zh")
    capsys.readouterr()
    assert main(["log", "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert "新增链接：hotel" in shown and "修改小节：Trip" in shown
