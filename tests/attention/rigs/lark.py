"""A local server that speaks what is needed of Lark's interface: tenants' tokens, messages, answers below them, and
the address of the long connection, which is `lark_socket`."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.attention.channels.http import ChannelService
from agent.attention.channels.lark import Lark
from agent.clock import SystemClock
from agent.llm.messages import JsonObject, items, mapping, text
from tests.attention.rigs.lark_socket import BOT, OWNER, LarkSocket, lark_socket
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Answered, Called, Fault, LocalService, local_service

SECRET = "hushAppSecret0123456789abcdef"
APP = "cli_a1b2c3"


@dataclass
class LarkService:
    """The server: what the bot has sent in `taken`, each once for its `uuid`."""

    secret: str = SECRET
    token: int = 1
    taken: dict[str, Shown] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    socket: LarkSocket | None = None
    refused: list[int] = field(default_factory=list)
    """The codes with which the next addresses of a connection are refused."""

    messages: dict[str, JsonObject] = field(default_factory=dict)
    """The messages that it gives for their ids."""

    files: dict[str, bytes] = field(default_factory=dict)
    """The files of messages, by their keys."""

    gone: set[str] = field(default_factory=set)
    """The messages that were recalled."""

    def __call__(self, called: Called) -> Answered:
        document = called.document if called.body else {}
        if called.path == "/callback/ws/endpoint":
            return self._endpoint(document)
        if called.path.endswith("/tenant_access_token/internal"):
            if document.get("app_secret") != self.secret:
                return Answered(200, {"code": 10014, "msg": "app secret invalid"})
            token = f"t-hush{self.token}"
            return Answered(200, {"code": 0, "msg": "ok", "tenant_access_token": token, "expire": 7200})
        if called.headers.get("authorization") != f"Bearer t-hush{self.token}":
            return Answered(400, {"code": 99991663, "msg": "Invalid access token for authorization"})
        if called.query.get("receive_id_type") == "open_id" and document.get("receive_id") != OWNER:
            return Answered(400, {"code": 230001, "msg": "invalid receive_id"})
        self.paths.append(called.path)
        if called.path.endswith("/bot/v3/info"):
            return Answered(200, {"code": 0, "msg": "ok", "bot": {"open_id": BOT}})
        if called.method == "GET" and "/resources/" in called.path:
            data = self.files.get(called.path.split("/")[-1])
            missing = Answered(400, {"code": 234003, "msg": "File not in msg."})
            return Answered(200, body=data) if data is not None else missing
        if called.method == "GET":
            found = self.messages.get(called.path.split("/")[-1])
            missing = Answered(400, {"code": 230002, "msg": "The bot can not be outside the group."})
            return Answered(200, {"code": 0, "msg": "ok", "data": {"items": [found]}}) if found else missing
        if called.path.split("/")[-2] in self.gone:
            return Answered(400, {"code": 230011, "msg": "The message is recalled."})
        card = mapping(json.loads(text(document["content"])))
        uuid = text(document["uuid"])
        self.taken.setdefault(uuid, Shown(_text(card), tuple(_replies(card)), uuid))
        return Answered(200, {"code": 0, "msg": "success", "data": {"message_id": f"om_{uuid.lower()}"}})

    def _endpoint(self, document: JsonObject) -> Answered:
        if self.refused:
            return Answered(200, {"code": self.refused.pop(0), "msg": "refused"})
        if document != {"AppID": APP, "AppSecret": self.secret}:
            return Answered(200, {"code": 1000040345, "msg": "app_id or app_secret is wrong"})
        assert self.socket is not None
        data = {"URL": self.socket.url, "ClientConfig": self.socket.config}
        return Answered(200, {"code": 0, "msg": "", "data": data})


def _text(card: JsonObject) -> str:
    title = mapping(mapping(card.get("header")).get("title"))
    rows = [mapping(mapping(each).get("text")) for each in items(card["elements"])]
    buttons = [mapping(each) for row in items(card["elements"]) for each in items(mapping(row).get("actions"))]
    assert all(mapping(each["text"])["tag"] == "plain_text" for each in buttons)
    shown = [each for each in (title, *rows) if each]
    assert all(each["tag"] == "plain_text" for each in shown)
    return "\n".join(text(each["content"]) for each in shown)


def _replies(card: JsonObject) -> Iterator[str]:
    for row in items(card["elements"]):
        for each in items(mapping(row).get("actions")):
            yield text(mapping(mapping(each).get("value")).get("reply"))


@dataclass
class LarkRig:
    channel: Lark
    server: LocalService
    service: LarkService
    secrets: tuple[str, ...] = (SECRET, "t-hush1")
    limit: int = 8_300
    asks_to_wait: bool = False
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset(
        {"busy", "broken", "silent", "cut", "cut after", "moved", "page", "flood", "wrong"}
    )

    def shown(self) -> Sequence[Shown]:
        return list(self.service.taken.values())

    def misbehave(self, *faults: Fault) -> None:
        self.server.faults.extend(faults)

    def change_key(self) -> None:
        self.service.secret, self.service.token = "another", 2

    def calls(self) -> int:
        return len(self.server.calls)

    def sent_on(self) -> int:
        return len(self.server.elsewhere)


@contextmanager
def lark() -> Iterator[tuple[LocalService, LarkService]]:
    """The server alone."""
    service = LarkService()
    with local_service(service) as server:
        server.busy = lambda: Answered(400, {"code": 99991400, "msg": "request trigger frequency limit"})
        yield server, service


def bot_of(server: LocalService, timeout: float = 5.0) -> Lark:
    """A bot of this server."""
    door = ChannelService("channels.lark.base_url", "channels.lark.app_secret", SystemClock(), (SECRET,), timeout)
    return Lark(server.url, APP, SECRET, OWNER, door, "en", buttons=True)


@contextmanager
def lark_rig() -> Iterator[Rig]:
    with lark() as (server, service):
        yield LarkRig(bot_of(server, 0.8), server, service)


@contextmanager
def two_way_lark() -> Iterator[tuple[LocalService, LarkService, LarkSocket]]:
    """The server with its long connection."""
    with lark() as (server, service), lark_socket() as socket:
        service.socket = socket
        yield server, service, socket
