"""A voice message is kept and written down, a picture is kept and shown; without a setting the person is told so."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.attention.channels.channel import Incoming, SentFile
from agent.attention.transcription import transcribe
from agent.background.incoming.files import take_files
from agent.clock import SystemClock
from agent.config.capture_settings import CaptureSettings
from agent.config.load import load_settings
from agent.errors import AgentError, Interrupted, UserError
from agent.llm.messages import Cancelled, never
from agent.tools.text_origin import text_origin_of
from tests.attention.rigs.telegram import DATE, TelegramService
from tests.attention.servers import Answered, Called, local_service
from tests.daemon.house import House, living
from tests.daemon.test_messages_are_answered_where_they_came_from import (
    DONE,
    bot,
    kept,
    listening,
    settled,
    vault,
)
from tests.stories.agents import only
from tests.vaults import write

VOICE = b"OggS\x00 which tea in the morning"
PICTURE = b"\x89PNG\r\n\x1a\n 1"
FORWARDED = {"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve", "date": DATE}}
__all__ = ["bot"]


def program(folder: Path, words: str = "print(open(sys.argv[1], 'rb').read()[5:].decode())") -> str:
    """A program that hears what stands in the file."""
    write(folder / "hear.py", f"import sys\n{words}\n")
    return f"{sys.executable} {folder / 'hear.py'} {{file}}"


@contextmanager
def answered(root: Path, sent: TelegramService) -> Iterator[House]:
    with living(root) as house:
        listening(house, sent)
        yield house


def session(root: Path) -> str:
    return only(list((root / "sessions").rglob("*.md"))).read_text("utf-8")


def test_a_voice_message_is_kept_written_down_and_answered_as_if_it_were_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path))
    with answered(root, bot) as house:
        bot.send_file(VOICE)
        house.until(lambda: bool(bot.sent), "there is an answer")
        settled(house)
        assert bot.sent[0].text == "Sencha."
        audio = only(list((root / "attachments").rglob("*.ogg")))
        assert audio.read_bytes() == VOICE
        talk = only(list((root / "sessions").rglob("*.md")))
        assert "which tea in the morning" in session(root) and audio.name in session(root)
        assert "which tea in the morning" not in kept(house), "it is not kept twice"
        path = talk.relative_to(root).as_posix()
        assert not text_origin_of(house.workspace.vault).source(path, talk.read_bytes()), "the owner's own words"


def test_a_voice_that_is_passed_on_is_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path))
    with answered(root, bot) as house:
        bot.send_file(VOICE, more=FORWARDED)
        house.until(lambda: bool(bot.sent), "there is an answer")
        settled(house)
        talk = only(list((root / "sessions").rglob("*.md")))
        assert text_origin_of(house.workspace.vault).source(talk.relative_to(root).as_posix(), talk.read_bytes())


def test_without_a_setting_it_is_kept_and_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    with answered(root, bot) as house:
        bot.send_file(VOICE)
        house.until(lambda: bool(bot.sent), "the person is told")
        settled(house)
        assert "capture.program" in bot.sent[0].text and ".ogg" in bot.sent[0].text
        assert only(list((root / "attachments").rglob("*.ogg"))).read_bytes() == VOICE
        assert not (root / "sessions").exists(), "no run has begun for nothing"


def test_a_program_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path, "sys.exit(3)"))
    with answered(root, bot) as house:
        bot.send_file(VOICE)
        house.until(lambda: bool(bot.sent), "the person is told")
        assert "ended with 3" in bot.sent[0].text
        assert only(list((root / "attachments").rglob("*.ogg"))).read_bytes() == VOICE


def test_a_picture_is_kept_and_the_model_is_told_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    with answered(root, bot) as house:
        bot.send_file(PICTURE, "photo", {"caption": "What is this?"})
        house.until(lambda: bool(bot.sent), "there is an answer")
        settled(house)
        picture = only(list((root / "attachments").rglob("*.jpg")))
        assert picture.read_bytes() == PICTURE
        assert "What is this?" in session(root) and picture.name in session(root) and "vault_read" in session(root)


def test_a_spoken_yes_decides_nothing_and_a_file_that_may_be_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: TelegramService
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path, "print('yes 7K2')"))
    with answered(root, bot) as house:
        bot.send_file(VOICE)
        house.until(lambda: bool(bot.sent), "there is an answer")
        assert bot.sent[0].text == "Sencha.", "it is a question for the agent, not an answer to one"
        settled(house)
        named = {"caption": "look", "document": {"file_id": "file1", "file_name": "x.sh"}}
        bot.send_file(b"rm -rf /", "document", named)
        house.until(lambda: len(bot.sent) == 2, "there is another answer")
        assert "programs may run" in bot.sent[1].text and not list((root / "attachments").rglob("*.sh"))


def settings(tmp_path: Path, **given: str) -> CaptureSettings:
    environ = {"VAULT_AGENT_HOME": str(tmp_path / "home")}
    environ |= {f"VAULT_AGENT_CAPTURE__{name.upper()}": value for name, value in given.items()}
    return load_settings(None, environ=environ).settings.capture


def test_a_server_that_speaks_the_audio_wire_writes_it_down(tmp_path: Path) -> None:
    asked: list[Called] = []

    def answer(called: Called) -> Answered:
        asked.append(called)
        return Answered(200, {"text": " which tea? "})

    write(tmp_path / "voice.ogg", VOICE)
    with local_service(answer) as server:
        found = settings(tmp_path, base_url=f"{server.url}/v1", model="whisper-1", api_key="sk-secret-of-the-wire-1")
        assert transcribe(tmp_path / "voice.ogg", found, SystemClock(), never) == "which tea?"
        (called,) = asked
        assert called.path == "/v1/audio/transcriptions"
        assert called.headers["authorization"] == "Bearer sk-secret-of-the-wire-1"
        assert VOICE in called.body and b'name="model"\r\n\r\nwhisper-1' in called.body
        server.faults.extend(["broken", "page", "wrong"])
        for _ in range(3):
            with pytest.raises(AgentError) as caught:
                transcribe(tmp_path / "voice.ogg", found, SystemClock(), never)
            assert "sk-secret" not in str(caught.value)


def test_a_key_is_sent_nowhere_without_tls(tmp_path: Path) -> None:
    write(tmp_path / "voice.ogg", VOICE)
    found = settings(tmp_path, base_url="http://example.org/v1", api_key="sk-secret-of-the-wire-1")
    with pytest.raises(UserError, match="TLS"):
        transcribe(tmp_path / "voice.ogg", found, SystemClock(), never)


def test_a_program_gets_no_shell_no_keys_and_no_more_time_than_it_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    write(tmp_path / "$(touch bad).ogg", VOICE)
    found = settings(tmp_path, program=program(tmp_path, "import os; print(sys.argv[1], 'SOME_API_KEY' in os.environ)"))
    told = transcribe(tmp_path / "$(touch bad).ogg", found, SystemClock(), never)
    assert told == f"{tmp_path}/$(touch bad).ogg False" and not (tmp_path / "bad").exists()
    found = settings(tmp_path, program=program(tmp_path, "import time; time.sleep(60)"), seconds="1")
    with pytest.raises(UserError, match="longer"):
        transcribe(tmp_path / "$(touch bad).ogg", found, SystemClock(), never)
    with pytest.raises(UserError, match="started"):
        transcribe(tmp_path / "x.ogg", settings(tmp_path, program="no-such-program-here"), SystemClock(), never)


class Source:
    """Has one file, and gives it as often as it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def fetch(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        self.asked += 1
        return VOICE


def test_a_voice_whose_writing_down_was_stopped_is_written_down_later_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault(tmp_path, monkeypatch)
    source, saved = Source(), list[Incoming]()
    voice = SentFile("voice", "voice 7.ogg", "v")
    message = Incoming("1:7", "1", "1", "", datetime.fromtimestamp(DATE, UTC), files=(voice,))
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path, "import time; time.sleep(60)"))
    with pytest.raises(Interrupted):
        take_files(open_workspace(root), "telegram", source, message, lambda: True, saved.append)
    monkeypatch.setenv("VAULT_AGENT_CAPTURE__PROGRAM", program(tmp_path))
    taken = take_files(open_workspace(root), "telegram", source, saved[-1], never, saved.append)
    assert "which tea in the morning" in taken.message.text and not taken.remarks
    assert source.asked == 1 and len(list((root / "attachments").rglob("*.ogg"))) == 1
