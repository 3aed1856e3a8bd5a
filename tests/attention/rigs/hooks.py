"""Local servers that take messages as the incoming webhooks of Slack, Mattermost, Discord and WeCom, and ntfy, do."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from agent.attention.channels.channel import Channel
from agent.attention.channels.hooks import DISCORD, MATTERMOST, SLACK, WECOM, Hook, HookForm
from agent.attention.channels.http import ChannelService
from agent.attention.channels.ntfy import Ntfy
from agent.clock import SystemClock
from agent.llm.messages import items, mapping, text
from tests.attention.rigs.rig import Rig, Shown
from tests.attention.servers import Answered, Called, Fault, LocalService, local_service

KEY = "T000B000/XXXXhushXXXXhush"
TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
ALL: frozenset[Fault] = frozenset({"busy", "broken", "silent", "cut", "cut after", "moved", "page", "flood", "wrong"})


@dataclass
class Hooks:
    """The server of one service: `take` looks at a request with the right key, as the service does."""

    take: Callable[["Hooks", Called], Answered]
    refuse: Answered
    key: str = KEY
    texts: list[str] = field(default_factory=list)

    def __call__(self, called: Called) -> Answered:
        return self.take(self, called) if self._is_known(called) else self.refuse

    def _is_known(self, called: Called) -> bool:
        return called.path.endswith(self.key) or called.query.get("key") == self.key or self._has_token(called)

    def _has_token(self, called: Called) -> bool:
        return called.headers.get("authorization") == f"Bearer {self.key}"


def _slack(server: Hooks, called: Called) -> Answered:
    [block] = items(called.document["blocks"])
    shown = mapping(mapping(block).get("text"))
    if shown.get("type") != "plain_text" or not 1 <= len(text(shown.get("text"))) <= 3_000:
        return Answered(400, body=b"invalid_blocks")
    server.texts.append(text(shown.get("text")))
    return Answered(200, body=b"ok", headers={"content-type": "text/html"})


def _without_escapes(told: str) -> str:
    return re.sub(r"\\([\\`*_\[\]~|#>+<-])", r"\1", told).replace("\u200b", "")


def _mattermost(server: Hooks, called: Called) -> Answered:
    told = text(called.document["text"])
    if not told or len(told) > 4_000:
        return Answered(400, {"id": "api.incoming_webhook.error", "message": "Text is too long", "status_code": 400})
    server.texts.append(_without_escapes(told))
    return Answered(200, body=b"ok", headers={"content-type": "text/plain"})


def _discord(server: Hooks, called: Called) -> Answered:
    told = text(called.document["content"])
    if not told or len(told) > 2_000:
        return Answered(400, {"code": 50035, "message": "Invalid Form Body"})
    if called.document.get("allowed_mentions") != {"parse": []}:
        return Answered(400, {"code": 0, "message": "this would have called everybody"})
    server.texts.append(_without_escapes(told))
    if called.query.get("wait") != "true":
        return Answered(204)
    return Answered(200, {"id": f"11{len(server.texts):016d}", "content": told})


def _wecom(server: Hooks, called: Called) -> Answered:
    told = text(mapping(called.document["text"]).get("content"))
    if not told or len(told.encode()) > 2_048:
        return Answered(200, {"errcode": 40058, "errmsg": "text.content exceed max length 2048"})
    server.texts.append(told)
    return Answered(200, {"errcode": 0, "errmsg": "ok"})


def _ntfy(server: Hooks, called: Called) -> Answered:
    told, title = text(called.document["message"]), text(called.document.get("title"))
    if called.path != "/" or called.document.get("topic") != "alerts" or len(told.encode()) > 4_096:
        return Answered(400, {"code": 40009, "http": 400, "error": "invalid request: topic invalid"})
    server.texts.append(f"{title}\n{told}")
    id = f"hwQ2YpKdmg{len(server.texts)}"
    return Answered(200, {"id": id, "time": 1_795_000_000, "event": "message", "topic": "alerts", "message": told})


@dataclass
class HookRig:
    channel: Channel
    server: LocalService
    hooks: Hooks
    secrets: tuple[str, ...]
    limit: int
    asks_to_wait: bool = True
    tells_a_wrong_key: bool = True
    faults: frozenset[Fault] = ALL

    def shown(self) -> Sequence[Shown]:
        return [Shown(each) for each in self.hooks.texts]

    def misbehave(self, *faults: Fault) -> None:
        self.server.faults.extend(faults)

    def change_key(self) -> None:
        self.hooks.key = "another"

    def calls(self) -> int:
        return len(self.server.calls)

    def sent_on(self) -> int:
        return len(self.server.elsewhere)


def _rig(
    form: HookForm,
    take: Callable[[Hooks, Called], Answered],
    refuse: Answered,
    path: str,
    limit: int,
    busy: Answered | None = None,
) -> Callable[[], AbstractContextManager[Rig]]:
    @contextmanager
    def opened() -> Iterator[Rig]:
        hooks = Hooks(take, refuse)
        with local_service(hooks) as server:
            if busy is not None:
                server.busy = lambda: busy
            url = f"channels.{form.name}.url"
            service = ChannelService(url, url, SystemClock(), (KEY, f"{server.url}{path}"), timeout=0.8)
            rig = HookRig(Hook(f"{server.url}{path}", form, service, "en"), server, hooks, (KEY,), limit)
            rig.asks_to_wait = busy is None
            yield rig

    return opened


slack_rig = _rig(SLACK, _slack, Answered(403, body=b"invalid_token"), f"/services/{KEY}", 3_000)
mattermost_rig = _rig(
    MATTERMOST, _mattermost, Answered(404, {"message": "Couldn't find the webhook"}), f"/hooks/{KEY}", 4_000
)
discord_rig = _rig(
    DISCORD, _discord, Answered(404, {"message": "Unknown Webhook", "code": 10015}), f"/api/webhooks/{KEY}", 2_000
)
wecom_rig = _rig(
    WECOM,
    _wecom,
    Answered(200, {"errcode": 93000, "errmsg": "invalid webhook url"}),
    f"/cgi-bin/webhook/send?key={KEY}",
    2_048,
    Answered(200, {"errcode": 45009, "errmsg": "api freq out of limit"}),
)


@contextmanager
def ntfy_rig() -> Iterator[Rig]:
    refused = Answered(403, {"code": 40301, "http": 403, "error": "forbidden"})
    hooks = Hooks(_ntfy, refused, TOKEN)
    with local_service(hooks) as server:
        service = ChannelService("channels.ntfy.base_url", "channels.ntfy.token", SystemClock(), (TOKEN,), timeout=0.8)
        channel = Ntfy(server.url, "alerts", TOKEN, service, "en")
        yield HookRig(channel, server, hooks, (TOKEN,), 4_300)
