"""Writing a machine setting changes its own line; comments, order and line endings stay the person's."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.edit import set_machine, unset_machine, with_key, without_key
from agent.config.file import parse_settings
from agent.errors import ConfigError

MINE = """\
# my machine
git:
  # typing slowly
  quiet_seconds: 10   # seconds
  durable: true

# the brake
brake:
    notes: "20"
"""


def test_a_new_value_takes_the_old_one_s_place() -> None:
    assert with_key(MINE, "git.quiet_seconds", "30") == MINE.replace("10   #", "30   #")
    assert with_key(MINE, "brake.notes", "5") == MINE.replace('"20"', "5")


def test_a_new_key_goes_to_the_end_of_its_section_in_its_indentation() -> None:
    assert with_key(MINE, "git.lock_seconds", "1") == MINE.replace(
        "  durable: true\n", "  durable: true\n  lock_seconds: 1\n"
    )
    assert with_key(MINE, "brake.share", "0.1") == MINE + "    share: 0.1\n"


def test_a_new_section_goes_to_the_end() -> None:
    assert with_key(MINE, "log.level", "info") == MINE + "log:\n  level: info\n"
    assert with_key("", "log.level", "info") == "log:\n  level: info\n"
    assert with_key("# nothing yet", "log.level", "info") == "# nothing yet\nlog:\n  level: info\n"


def test_an_empty_section_is_filled_where_it_stands() -> None:
    assert with_key("git: # mine\nlog:\n", "git.durable", "true") == "git: # mine\n  durable: true\nlog:\n"


def test_an_empty_value_is_filled() -> None:
    assert with_key("git:\n  durable:\n", "git.durable", "true") == "git:\n  durable: true\n"


def test_removing_a_key_removes_its_line_only() -> None:
    assert without_key(MINE, "git.durable") == MINE.replace("  durable: true\n", "")
    assert without_key(without_key(MINE, "git.durable"), "git.quiet_seconds") == MINE.replace(
        "  durable: true\n", ""
    ).replace("  quiet_seconds: 10   # seconds\n", "")


def test_line_endings_and_byte_order_mark_stay() -> None:
    text = "\ufeff# mine\r\ngit:\r\n  durable: true\r\n"
    assert with_key(text, "git.lock_seconds", "1") == text + "  lock_seconds: 1\r\n"
    assert with_key(text, "git.durable", "false") == text.replace("true", "false")


def test_a_block_scalar_is_replaced_whole() -> None:
    text = "git:\n  human_commits: |\n    auto\n  durable: true\n"
    assert with_key(text, "git.human_commits", "off") == "git:\n  human_commits: off\n  durable: true\n"


@pytest.mark.parametrize("text", ["git: {durable: true}\n", "{}\n", "{git: {durable: true}}"])
def test_what_cannot_be_edited_by_lines_is_refused_and_kept(text: str) -> None:
    with pytest.raises(ConfigError, match="nothing was changed") as caught:
        with_key(text, "git.lock_seconds", "1")
    assert "by hand" in caught.value.hint


VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="\x7f"), max_size=30).map(
    str.strip
)
LINES = st.lists(
    st.sampled_from(
        ["# a comment", "", "git:\n  durable: true  # yes", "log:", "brake:\n   notes: '3'", "vault: {language: en}"]
    ),
    unique=True,
)


@given(LINES, st.sampled_from(["git.durable", "git.x", "log.level", "new.deep.key", "brake.notes"]), VALUES)
def test_whatever_is_set_is_read_back_and_everything_else_is_kept(lines: list[str], key: str, value: str) -> None:
    text = "\n".join(lines)
    before = {each: entry.text for each, entry in parse_settings(text, "f").entries.items()}
    try:
        edited = with_key(text, key, value)
    except ConfigError:
        # Refusing is allowed for what YAML cannot print, such as a C1 control character.
        assert not value.isprintable()
        return
    after = {each: entry.text for each, entry in parse_settings(edited, "f").entries.items()}
    assert after[key] == value
    assert {each: before[each] for each in before if each not in (key, "log")}.items() <= after.items()
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in edited.splitlines() if line.startswith("#")
    ]
    if key not in before:
        assert set(text.splitlines()) <= set(edited.splitlines())
        gone = without_key(edited, key)
        assert set(text.splitlines()) <= set(gone.splitlines())


def test_the_machine_s_file_is_private_and_complete(tmp_path: Path) -> None:
    environ = {"VAULT_AGENT_HOME": str(tmp_path)}
    path = set_machine("git.durable", "off", environ)
    assert path.read_text("utf-8") == "git:\n  durable: false\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["config.yaml"]


def test_the_file_s_permissions_and_a_link_to_it_stay(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.yaml"
    kept.write_text("# mine\n", "utf-8")
    kept.chmod(0o640)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").symlink_to(kept)
    set_machine("log.level", "info", {"VAULT_AGENT_HOME": str(tmp_path)})
    assert (tmp_path / "config" / "config.yaml").is_symlink()
    assert kept.read_text("utf-8") == "# mine\nlog:\n  level: info\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640


def test_a_wrong_value_or_key_is_never_written(tmp_path: Path) -> None:
    environ = {"VAULT_AGENT_HOME": str(tmp_path)}
    with pytest.raises(ConfigError, match=r'git\.durable: "perhaps" is not true or false'):
        set_machine("git.durable", "perhaps", environ)
    with pytest.raises(ConfigError, match="no such setting"):
        set_machine("git.nothing", "1", environ)
    assert list(tmp_path.iterdir()) == []


def test_unset_also_removes_a_key_that_no_longer_exists(tmp_path: Path) -> None:
    environ = {"VAULT_AGENT_HOME": str(tmp_path)}
    path = set_machine("git.durable", "off", environ)
    path.write_text(path.read_text("utf-8") + "old:\n  thing: 1\n", "utf-8")
    assert unset_machine("old.thing", environ) == (path, True)
    assert unset_machine("old.thing", environ) == (path, False)
    assert path.read_text("utf-8") == "git:\n  durable: false\nold:\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        set_machine("git.durable", "off", {"VAULT_AGENT_HOME": str(tmp_path)})
