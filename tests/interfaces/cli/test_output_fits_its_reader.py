"""Text for a person, JSON for a script; and a vault is found or its absence explained."""

import io
import json
import sys
from pathlib import Path

import pytest

from agent.errors import NotAVault
from agent.interfaces.cli.output import Output, find_vault
from agent.interfaces.cli.printing import Styled

Captured = pytest.CaptureFixture[str]


class Terminal(io.TextIOWrapper):
    """Standard output as a terminal; `shown` is what it was sent."""

    def __init__(self) -> None:
        self.bytes = io.BytesIO()
        super().__init__(self.bytes, "utf-8", newline="")

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        self.flush()
        return self.bytes.getvalue().decode()


def terminal_for(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Not a fixture: pytest takes standard output back between a fixture and its test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_text_is_computed_only_when_it_is_shown(capsys: Captured) -> None:
    def expensive() -> str:
        raise AssertionError("nobody reads this")

    Output(json=True).emit({"a": "中"}, expensive)
    assert json.loads(capsys.readouterr().out) == {"ok": True, "a": "中"}
    Output().emit({"a": 1}, lambda: "text")
    assert capsys.readouterr().out == "text\n"


def test_bytes_pass_unchanged(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    data = b"\xef\xbb\xbf\xff\r\n\x1b[31mred\x00 no newline"
    Output().emit({}, data, raw=True)
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == data


def test_control_characters_of_a_file_reach_a_pipe_only_when_they_are_asked_for(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    note = b"\xef\xbb\xbfone\r\n\ttwo \x1b[31mred\x1b[0m\x07 \xe2\x80\x8b caf\xe9 \x9b31m \xc2\x9b\r!\n"
    Output().emit({}, note)
    printed = capfdbinary.readouterr()
    shown = b"\xef\xbb\xbfone\r\n\ttwo \\x1b[31mred\\x1b[0m\\x07 \xe2\x80\x8b caf\xe9 \\x9b31m \\x9b\\x0d!\n"
    assert printed.out == shown, "more than control characters was changed, or less"
    assert b"--raw" in printed.err
    Output().emit({}, note, raw=True)
    printed = capfdbinary.readouterr()
    assert (printed.out, printed.err) == (note, b"")


def test_notes_are_for_persons_and_warnings_for_all(capsys: Captured) -> None:
    for output in (Output(), Output(json=True)):
        output.note("by the way")
        output.warn("careful")
    assert capsys.readouterr() == ("", "by the way\nwarning: careful\nwarning: careful\n")


@pytest.mark.parametrize("text", ["a\x1b]0;title\x07b\x9bc\rd\n", b"a\x1b]0;title\x07b\xc2\x9bc\rd\n"])
def test_a_note_cannot_drive_the_terminal(monkeypatch: pytest.MonkeyPatch, text: str | bytes) -> None:
    terminal = terminal_for(monkeypatch)
    Output().emit({}, text)
    assert terminal.shown == "a\\x1b]0;title\\x07b\\x9bc\\x0dd\n"


def test_colours_reach_a_terminal_unless_unwanted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    Output().emit({}, [Styled("red", colour="red")])
    monkeypatch.setenv("NO_COLOR", "1")
    Output().emit({}, [Styled("red", colour="red")])
    assert terminal.shown == "\x1b[31mred\x1b[0m\nred\n"


def test_colours_do_not_reach_a_pipe(capsys: Captured) -> None:
    Output().emit({}, [Styled("red", colour="red")])
    assert capsys.readouterr().out == "red\n"


def test_a_colour_that_a_text_brings_along_is_shown_and_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    Output().emit({}, "\x1b[31mred\x1b[0m")
    assert capsys.readouterr().out == "\\x1b[31mred\\x1b[0m\n"
    terminal = terminal_for(monkeypatch)
    Output().emit({}, [Styled("\x1b[8mred", bold=True)])
    assert terminal.shown == "\x1b[1m\\x1b[8mred\x1b[0m\n"


def test_tabs_newlines_and_every_script_stay_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    Output().emit({}, "a\tb\n中文 émoji 😀\n")
    assert terminal.shown == "a\tb\n中文 émoji 😀\n"


def test_a_file_from_windows_is_shown_without_its_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_for(monkeypatch)
    Output().emit({}, b"\xef\xbb\xbfa\r\nb\r\n")
    assert terminal.shown == "a\nb\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "a" / "b").mkdir(parents=True)
    (root / "vault-agent.yaml").touch()
    return root


def test_the_nearest_vault_upwards_is_meant(vault: Path) -> None:
    assert find_vault(vault / "a" / "b", None) == vault
    (vault / "a" / "vault-agent.yaml").touch()
    assert find_vault(vault / "a" / "b", None) == vault / "a"


def test_a_vault_that_is_named_is_meant_wherever_one_stands(vault: Path, tmp_path: Path) -> None:
    assert find_vault(tmp_path, vault) == vault
    assert find_vault(tmp_path, vault / "a" / "..") == vault


def test_a_folder_inside_a_vault_is_not_the_vault(vault: Path) -> None:
    with pytest.raises(NotAVault) as caught:
        find_vault(vault, vault / "a")
    assert str(vault) in caught.value.hint


def test_without_a_vault_the_hint_makes_one(tmp_path: Path) -> None:
    for given in (None, tmp_path / "none"):
        with pytest.raises(NotAVault) as caught:
            find_vault(tmp_path, given)
        assert "vault-agent init" in caught.value.hint
