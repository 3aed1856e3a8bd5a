"""What a person types while a run works: messages, corrections, pasted blocks; and the history of a chat."""

from pathlib import Path

import pytest

from agent.config.masking import keep_out_of_print
from agent.interfaces.cli.terminal import editor
from agent.interfaces.cli.terminal.editor import TypedAhead, open_history

PASTE = "\x1b[200~one\r\ntwo\rthree\x1b[201~"


@pytest.mark.parametrize(
    ("keys", "sent", "left"),
    [
        ("hello\r", ["hello"], ""),
        ("one\rtwo\nthree", ["one", "two"], "three"),
        (f"see: {PASTE}\r", ["see: one\ntwo\nthree"], ""),
        ("a\x1b\rb\r", ["a\nb"], ""),
        ("helpp\x7f me\r", ["help me"], ""),
        ("not this\x15this\r", ["this"], ""),
        ("two words\x17\r", ["two"], ""),
        ("\r  \r", [], ""),
        ("\x1b[A\x1b[D\x1bxok\t\x01", [], "ok"),
    ],
)
def test_keys_make_messages(keys: str, sent: list[str], left: str) -> None:
    for step in (1, 2, 99):
        typed, came, data = TypedAhead(), list[str](), keys.encode()
        for start in range(0, len(data), step):
            came += typed.feed(data[start : start + step])
        assert (came, typed.text) == (sent, left)


def test_a_character_may_come_in_parts() -> None:
    typed = TypedAhead()
    assert [each for byte in "你好\r".encode() for each in typed.feed(bytes([byte]))] == ["你好"]


def test_the_history_is_private_bounded_and_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editor, "KEPT", 10)
    path = tmp_path / "state" / "chat_history"
    keep_out_of_print(("hunter-2-secret",))
    try:
        history = open_history(path)
        for number in range(25):
            history.append_string(f"message {number}\nwith hunter-2-secret")
    finally:
        keep_out_of_print(())
    assert path.stat().st_mode & 0o777 == 0o600 and "hunter" not in path.read_text()
    again = open_history(path)
    kept = list(again.load_history_strings())
    assert len(kept) == 10 and kept[0] == "message 24\nwith ***"


def test_a_history_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    history = open_history(tmp_path / "file" / "chat_history")
    history.append_string("hello")
    assert history.get_strings() == ["hello"]
