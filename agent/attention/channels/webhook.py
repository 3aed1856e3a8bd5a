"""Notices posted as JSON to an address of the person's own, signed so that its owner can tell who sent them.

The body is `{"id", "title", "text", "at", "choices", "again"}`. `Idempotency-Key` is the id, the same in each try.
`X-Vault-Agent-Signature` is `sha256=` and the HMAC of `X-Vault-Agent-Timestamp`, a full stop and the body.
"""

import hmac

from agent.attention.channels.channel import Message
from agent.attention.channels.http import JSON_TYPE, ChannelService, checked_url, json_body
from agent.attention.channels.wording import body_of, title_of
from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, text
from agent.texts import Language

_MOST = 100_000
"""The most characters of a text: enough for a page, and harmless to a small server."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """The channel; `secret` is the key of the signature, empty for none."""

    url: str
    secret: str
    service: ChannelService
    language: Language
    name: str = "webhook"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Post it; the proof is the id that the server answers with, or its status and our id."""
        url, now = checked_url(self.url, self.service.address), self.service.clock.now()
        document = {
            "id": message.id,
            "title": title_of(message),
            "text": body_of(message, self.language, _MOST, replies=False),
            "at": now.isoformat(),
            "choices": [{"label": choice.label, "reply": choice.reply} for choice in message.choices],
            "again": message.again,
        }
        body, headers = json_body(document), JSON_TYPE | {"idempotency-key": message.id}
        if self.secret:
            headers |= signature(self.secret, str(int(now.timestamp())), body)
        answer = self.service.ask("POST", url, cancelled, headers=headers, body=body)
        if not answer.is_success:
            raise self.service.refusal(url, answer)
        answer_id = self.service.clean(text(answer.document.get("id")))
        return answer_id or f"{answer.status} {message.id}"


def signature(secret: str, timestamp: str, body: bytes) -> dict[str, str]:
    """The headers that sign a body, as many services do: the timestamp keeps an old request from being sent again."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256").hexdigest()
    return {"x-vault-agent-timestamp": timestamp, "x-vault-agent-signature": f"sha256={signed}"}
