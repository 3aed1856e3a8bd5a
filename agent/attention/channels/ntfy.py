"""A topic of ntfy, for notices on a phone; the proof is the id of the message there."""

from agent.attention.channels.channel import Message
from agent.attention.channels.hooks import utf8_bytes
from agent.attention.channels.http import ChannelService, checked_url
from agent.attention.channels.wording import body_of, shortened, title_of
from agent.dataclass import dataclass
from agent.llm.messages import Cancelled, text
from agent.texts import Language

MOST = 4_000
"""The most bytes of a text: ntfy makes a file of one with more than 4,096."""
_TITLE = 240


@dataclass(frozen=True, slots=True)
class Ntfy:
    """The channel of one topic."""

    base_url: str
    topic: str
    token: str
    service: ChannelService
    language: Language
    name: str = "ntfy"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Publish it as JSON, with which the topic is in no address."""
        url = checked_url(self.base_url, "channels.ntfy.base_url").rstrip("/") + "/"
        title = shortened(title_of(message), _TITLE, utf8_bytes)
        body = body_of(message, self.language, MOST, replies=False, elsewhere=True, size=utf8_bytes)
        document = {"topic": self.topic, "title": title, "message": body or title}
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        answer = self.service.post(url, document, cancelled, headers)
        if not answer.is_success:
            raise self.service.refusal(url, answer)
        proof = self.service.clean(text(answer.document.get("id")))
        if not proof or answer.document.get("event") != "message":
            raise self.service.not_understood(url)
        return proof
