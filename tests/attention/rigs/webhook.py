"""A server of one's own that takes signed webhooks, and checks the signature by itself."""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.attention.channels.http import ChannelService
from agent.attention.channels.webhook import Webhook
from agent.clock import SystemClock
from agent.llm.messages import items, mapping, text
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Answered, Called, Fault, LocalService, local_service

SECRET = "hush-hush-webhook-1234567"


@dataclass
class Taker:
    """What the server does: refuse what is not signed, take each id once."""

    secret: str = SECRET
    taken: list[Shown] = field(default_factory=list)

    def __call__(self, called: Called) -> Answered:
        told = called.headers["x-vault-agent-timestamp"].encode() + b"." + called.body
        signed = hmac.new(self.secret.encode(), told, hashlib.sha256).hexdigest()
        if called.headers.get("x-vault-agent-signature") != f"sha256={signed}":
            return Answered(401, {"error": f"bad signature, not {self.secret}"})
        document = called.document
        replies = tuple(text(mapping(each).get("reply")) for each in items(document.get("choices")))
        whole = f"{text(document['title'])}\n{text(document['text'])}"
        self.taken.append(Shown(whole, replies, called.headers["idempotency-key"]))
        return Answered(204)


@dataclass
class WebhookRig:
    channel: Webhook
    server: LocalService
    taker: Taker
    secrets: tuple[str, ...] = (SECRET,)
    limit: int = 101_000
    asks_to_wait: bool = True
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = frozenset({"busy", "broken", "silent", "cut", "cut after", "moved", "page"})

    def shown(self) -> Sequence[Shown]:
        return self.taker.taken

    def misbehave(self, *faults: Fault) -> None:
        self.server.faults.extend(faults)

    def change_key(self) -> None:
        self.taker.secret = "another-secret-000"

    def calls(self) -> int:
        return len(self.server.calls)

    def sent_on(self) -> int:
        return len(self.server.elsewhere)


@contextmanager
def webhook_rig() -> Iterator[Rig]:
    taker = Taker()
    with local_service(taker) as server:
        service = ChannelService(
            "channels.webhook.url", "channels.webhook.secret", SystemClock(), (SECRET,), timeout=0.3
        )
        channel = Webhook(f"{server.url}/hooks/1?a=b", SECRET, service, "en")
        yield WebhookRig(channel, server, taker)
