"""A local server that speaks the bots' interface of Telegram: updates until they are confirmed, messages with buttons.

Its answers have the form of the service's documentation: `ok` and `result`, or `error_code`, `description` and
`parameters`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from agent.attention.channels.http import ChannelService
from agent.attention.channels.telegram import Telegram
from agent.clock import SystemClock
from agent.llm.messages import JsonObject, items, mapping, number, text
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import ASKED_WAIT, Answered, Called, Fault, LocalService, local_service

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
OWNER, STRANGER, GROUP, BOT = 777, 666, -1001, 4242
BOT_NAME = "vaultling_bot"
DATE = 1_795_000_000


@dataclass
class Sent:
    """A message that the bot has sent."""

    id: int
    chat: str
    text: str
    replies: tuple[str, ...] = ()
    answers: int = 0


@dataclass
class TelegramService:
    """The server: what people write to the bot with `write`, `press` and `forward`, what the bot has sent in `sent`."""

    token: str = TOKEN
    sent: list[Sent] = field(default_factory=list)
    updates: list[dict[str, object]] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    """The files that were sent, by their ids."""
    number: int = 100
    last_message: int = 0

    def __call__(self, called: Called) -> Answered:
        if called.path.startswith(f"/file/bot{self.token}/"):
            return Answered(200, body=self.files[called.path.rpartition("/")[2]])
        token, _, method = called.path.removeprefix("/bot").rpartition("/")
        if token != self.token:
            return _refused(401, "Unauthorized")
        document = called.document
        match method:
            case "getMe":
                return _result({"id": BOT, "is_bot": True, "username": BOT_NAME})
            case "getUpdates":
                return _result(self._given(document))
            case "sendMessage":
                return self._take(document)
            case "getFile":
                return _result({"file_id": document.get("file_id"), "file_path": f"voice/{document.get('file_id')}"})
            case "answerCallbackQuery":
                self.confirmed.append(text(document.get("callback_query_id")))
                return _result(True)
        return _refused(404, "Not Found")

    def write(self, words: str, sender: int = OWNER, chat: int = 0, **more: object) -> None:
        """Somebody writes to the bot, or in a group."""
        self.last_message += 1
        chat = chat or sender
        kind = "private" if chat > 0 else "supergroup"
        message = {"message_id": self.last_message, "from": {"id": sender}, "chat": {"id": chat, "type": kind}}
        self._arrive({"message": {**message, "date": DATE, "text": words, **more}})

    def send_file(self, data: bytes, kind: str = "voice", more: Mapping[str, object] = MappingProxyType({})) -> None:
        """The owner sends a voice message, a `photo` or a `document`."""
        id = f"file{len(self.files)}"
        self.files[id] = data
        about = {"file_id": id, "file_size": len(data)}
        self.last_message += 1
        message = {"message_id": self.last_message, "from": {"id": OWNER}, "chat": {"id": OWNER, "type": "private"}}
        sent = {kind: [about] if kind == "photo" else about}
        self._arrive({"message": {**message, "date": DATE, **sent, **more}})

    def forward(self, words: str) -> None:
        """The owner passes on what somebody else wrote."""
        self.write(words, forward_origin={"type": "hidden_user", "sender_user_name": "Eve", "date": DATE})

    def press(self, reply: str, sender: int = OWNER) -> None:
        """Somebody presses the button with this reply, below the last message."""
        below = {"message_id": self.last_message, "chat": {"id": sender, "type": "private"}, "date": DATE}
        press = {"id": f"press{self.number}", "from": {"id": sender}, "message": below, "data": reply}
        self._arrive({"callback_query": press})

    def _arrive(self, update: dict[str, object]) -> None:
        self.number += 1
        self.updates.append({"update_id": self.number, **update})

    def _given(self, document: JsonObject) -> list[dict[str, object]]:
        """As the service does: an offset confirms what is before it, and a negative one counts from the end."""
        offset = document.get("offset")
        if isinstance(offset, int) and offset < 0:
            self.updates = self.updates[offset:]
        else:
            self.updates = [each for each in self.updates if int(str(each["update_id"])) >= number(offset)]
        return self.updates

    def _take(self, document: JsonObject) -> Answered:
        told, chat = text(document.get("text")), str(document.get("chat_id"))
        if not told or len(told.encode("utf-16-le")) // 2 > 4096:
            return _refused(400, "Bad Request: message is too long")
        self.last_message += 1
        rows = items(mapping(document.get("reply_markup")).get("inline_keyboard"))
        buttons = [mapping(each) for row in rows for each in items(row)]
        replies = tuple(text(each.get("callback_data")) for each in buttons)
        if any(len(each.encode()) > 64 for each in replies):
            return _refused(400, "Bad Request: BUTTON_DATA_INVALID")
        answers = number(mapping(document.get("reply_parameters")).get("message_id"))
        self.sent.append(Sent(self.last_message, chat, told, replies, answers))
        return _result({"message_id": self.last_message, "date": DATE, "chat": {"id": int(chat)}, "text": told})


def _result(value: object) -> Answered:
    return Answered(200, {"ok": True, "result": value})


def _refused(status: int, description: str, **more: object) -> Answered:
    return Answered(status, {"ok": False, "error_code": status, "description": description, **more})


def _busy() -> Answered:
    words = f"Too Many Requests: retry after {ASKED_WAIT}"
    return _refused(429, words, parameters={"retry_after": ASKED_WAIT})


@dataclass
class TelegramRig:
    channel: Telegram
    server: LocalService
    service: TelegramService
    secrets: tuple[str, ...] = (TOKEN,)
    limit: int = 4_096
    asks_to_wait: bool = True
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset(
        {"busy", "broken", "silent", "cut", "cut after", "moved", "page", "flood", "wrong"}
    )

    def shown(self) -> Sequence[Shown]:
        return [Shown(each.text, each.replies) for each in self.service.sent]

    def misbehave(self, *faults: Fault) -> None:
        self.server.faults.extend(faults)

    def change_key(self) -> None:
        self.service.token = "1:another"

    def calls(self) -> int:
        return len(self.server.calls)

    def sent_on(self) -> int:
        return len(self.server.elsewhere)


@contextmanager
def telegram() -> Iterator[tuple[LocalService, TelegramService]]:
    """The server alone."""
    service = TelegramService()
    with local_service(service) as server:
        server.busy = _busy
        yield server, service


def channel_of(server: LocalService, timeout: float = 5.0) -> Telegram:
    """A channel to the server."""
    service = ChannelService("channels.telegram.base_url", "channels.telegram.token", SystemClock(), (TOKEN,), timeout)
    return Telegram(server.url, TOKEN, str(OWNER), service, "en", wait=0)


@contextmanager
def telegram_rig() -> Iterator[Rig]:
    with telegram() as (server, service):
        yield TelegramRig(channel_of(server, 0.8), server, service)
