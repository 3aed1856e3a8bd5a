"""The files of messages of Lark and Telegram: which there are, whose they are, and their bytes, within limits."""

import json

import pytest

from agent.attention.channels.channel import FileSource, SentFile
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.telegram import Telegram
from agent.attention.channels.telegram_messages import parse_message
from agent.errors import AgentError, UserError
from agent.llm.messages import JsonObject, never
from tests.attention.rigs.lark import bot_of, lark
from tests.attention.rigs.lark_socket import CHAT, OWNER
from tests.attention.rigs.telegram import DATE, TOKEN, channel_of, telegram

TEN = b"0123456789"


def event(kind: str, content: JsonObject, **more: object) -> bytes:
    message = {"message_id": "om_1", "chat_id": CHAT, "chat_type": "p2p", "message_type": kind, "create_time": "1"}
    sender = {"sender_id": {"open_id": OWNER}, "sender_type": "user"}
    said = {"sender": sender, "message": {**message, "content": json.dumps(content), **more}}
    return json.dumps({"header": {"event_type": "im.message.receive_v1"}, "event": said}).encode()


def test_a_message_of_lark_says_which_files_it_has() -> None:
    found = parse_event(event("audio", {"file_key": "file_v3", "duration": 2000}), lambda: "")
    assert found is not None and found.files == (SentFile("voice", "voice om_1.opus", "om_1/file_v3"),)
    found = parse_event(event("image", {"image_key": "img_v3"}, upper_message_id="om_0"), lambda: "")
    assert found is not None and [(each.kind, each.is_own) for each in found.files] == [("picture", False)]
    found = parse_event(event("text", {"text": "hello"}), lambda: "")
    assert found is not None and found.files == ()


def test_a_file_of_lark_is_fetched_within_its_limit() -> None:
    with lark() as (server, service):
        service.files["file_v3"] = TEN
        source = bot_of(server)
        file = SentFile("voice", "voice.opus", "om_1/file_v3")
        assert source.resource(file, 10, never) == TEN
        with pytest.raises(UserError, match="larger"):
            source.resource(file, 9, never)
        for reference in ("om_1/gone", "om_1/../../x", "x", "om_1/"):
            with pytest.raises(AgentError):
                source.resource(SentFile("file", "x.pdf", reference), 10, never)


def test_a_message_of_telegram_says_which_files_it_has_and_whose_they_are() -> None:
    said: JsonObject = {"message_id": 7, "from": {"id": 1}, "chat": {"id": 1, "type": "private"}, "date": DATE}
    sizes: list[JsonObject] = [{"file_id": "small", "file_size": 1}, {"file_id": "large", "file_size": 2}]
    found = parse_message({**said, "photo": sizes, "caption": "see"}, {})
    assert found is not None and found.files == (SentFile("picture", "picture 7.jpg", "large", 2),)
    voice: JsonObject = {"voice": {"file_id": "v"}, "forward_origin": {"type": "user"}}
    found = parse_message({**said, **voice}, {})
    assert found is not None and [(each.kind, each.is_own) for each in found.files] == [("voice", False)]
    found = parse_message({**said, "audio": {"file_id": "a", "file_name": "meeting.m4a"}}, {})
    assert found is not None and [(each.kind, each.is_own) for each in found.files] == [("voice", False)], "anybody's"


def test_a_file_of_telegram_is_fetched_within_its_limit_and_its_key_is_told_nobody() -> None:
    with telegram() as (server, service):
        source = channel_of(server)
        assert isinstance(source, Telegram) and isinstance(source, FileSource)
        service.files["f1"] = TEN
        assert source.fetch(SentFile("voice", "a.ogg", "f1"), 10, never) == TEN
        for most, size in ((9, 0), (9, 10)):
            with pytest.raises(UserError, match="larger"):
                source.fetch(SentFile("voice", "a.ogg", "f1", size), most, never)
        server.faults.extend(["broken"])
        with pytest.raises(AgentError) as caught:
            source.fetch(SentFile("voice", "a.ogg", "f1"), 10, never)
        assert TOKEN not in f"{caught.value} {caught.value.__context__}"
        with pytest.raises(AgentError):
            source.fetch(SentFile("voice", "a.ogg", "../../f1"), 10, never)
