"""A bot of Lark (Feishu): cards to its owner, and as answers in a chat.

Only the few calls that are needed, each with a tenant's token, which is renewed when it is about to end. The id of a
message is sent along as `uuid`, by which Lark drops a second try within an hour. What is pressed and written there
comes in by `lark_in`.
"""

import json
import logging
import re
from dataclasses import field

from agent.attention.channels.channel import Choice, Message, SentFile, too_large
from agent.attention.channels.http import JSON_TYPE, ChannelService, HttpAnswer, checked_url, json_body
from agent.attention.channels.wording import body_of, title_of
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, Permanent, Retryable, UserError
from agent.escape import escape_line
from agent.llm.messages import Cancelled, JsonObject, items, mapping, number, text
from agent.texts import Language, Sentence

MOST = 8_000
"""The most characters of a card's text: a card has at most 30 KB."""
_BUSY = frozenset({99991400, 11232, 230020})
"""The codes for too many requests."""
_TOKEN_OVER = frozenset({99991663, 99991661, 99991668})
"""The codes for a token that does not count any more."""
_KEY = frozenset({10003, 10014, 10012, 99991664})
_GONE = frozenset({230011, 230050, 230111})
"""The codes for a message that cannot be answered below it: recalled, not visible, or soon deleted."""
_LEFT = 300.0
"""Seconds before its end at which a token is renewed."""
_KEY_OF_FILE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_MESSAGE = re.compile(r"om_[A-Za-z0-9_-]+")
logger = logging.getLogger(__name__)

REPLY = "reply"
"""The field in the value of a button: the reply that it stands for."""


@dataclass(slots=True)
class Lark:
    """The channel; `owner` is the person's `open_id` in the app. `buttons`: presses come in, so that a card may have
    them; without, it says in words where to decide."""

    base_url: str
    app_id: str
    app_secret: str
    owner: str
    service: ChannelService
    language: Language
    buttons: bool = False
    name: str = "lark"
    _token: str = field(default="", init=False, repr=False)
    _until: float = field(default=0.0, init=False)

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Send it to the chat `Message.to`, else to the owner; as an answer, below the message that it answers."""
        to = message.to or self.owner
        if not to:
            raise UserError(
                "Lark has nobody to write to: {setting} is empty",
                hint="set it to your own open_id in the app",
                setting="channels.lark.owner",
            )
        document = {"msg_type": "interactive", "content": json.dumps(self.card(message)), "uuid": message.id}
        answered = _MESSAGE.match(message.answers)
        reply = self._answered(answered[0], document, cancelled) if answered else None
        if reply is None:
            address = {"receive_id": to, **document}
            reply = self._checked(self._ask("POST", f"im/v1/messages?receive_id_type={_kind(to)}", address, cancelled))
        proof = text(mapping(reply.get("data")).get("message_id"))
        if not proof:
            raise self.service.not_understood(self.base_url)
        return proof

    def own_id(self, cancelled: Cancelled) -> str:
        """The `open_id` of the bot itself; raises as `send` does."""
        reply = self._checked(self._ask("GET", "bot/v3/info", None, cancelled))
        own = text(mapping(reply.get("bot")).get("open_id"))
        if not own:
            raise self.service.not_understood(self.base_url)
        return own

    def message(self, id: str, cancelled: Cancelled) -> JsonObject:
        """The message with this id; empty if Lark does not give it, such as for want of a right.

        Raises `Interrupted`.
        """
        if not _MESSAGE.fullmatch(id):
            return {}
        try:
            reply = self._checked(self._ask("GET", f"im/v1/messages/{id}", None, cancelled))
        except Interrupted:
            raise
        except AgentError as error:
            logger.warning("lark: the message that is answered cannot be read: %s", error)
            return {}
        return next((mapping(each) for each in items(mapping(reply.get("data")).get("items"))), {})

    def resource(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        """The bytes of a file that came with a message; raises as `send` does."""
        message, _, key = file.reference.partition("/")
        if not (_MESSAGE.fullmatch(message) and _KEY_OF_FILE.fullmatch(key)):
            raise self.service.not_understood(self.base_url)
        kind = "image" if file.kind == "picture" else "file"
        path = f"im/v1/messages/{message}/resources/{key}?type={kind}"
        answer = self._ask("GET", path, None, cancelled, most=most + 1)
        if not 200 <= answer.status < 300 or "code" in answer.document:
            self._checked(answer)
            raise self.service.not_understood(self.base_url)
        if len(answer.body) > most:
            raise too_large(file.name, most)
        return answer.body

    def card(self, message: Message) -> JsonObject:
        """The card: all of its text is plain, in which Lark interprets nothing."""
        body = body_of(message, self.language, MOST, replies=False, elsewhere=not self.buttons)
        rows: list[JsonObject] = [{"tag": "div", "text": {"tag": "plain_text", "content": body}}] if body else []
        if self.buttons and message.choices:
            rows.append({"tag": "action", "actions": [_button(each) for each in message.choices]})
        title = title_of(message)
        header: JsonObject = {"header": {"title": {"tag": "plain_text", "content": title}}} if title else {}
        return {"config": {"wide_screen_mode": True}, **header, "elements": rows}

    def post(self, path: str, document: object, cancelled: Cancelled) -> HttpAnswer:
        """The answer to a document without a token, whatever its status; raises as `Service.ask` does."""
        return self.service.post(self._url(path), document, cancelled)

    def _answered(self, message: str, document: object, cancelled: Cancelled) -> JsonObject | None:
        """Lark's reply to an answer below a message; None if that message is gone."""
        answer = self._ask("POST", f"im/v1/messages/{message}/reply", document, cancelled)
        return None if number(answer.document.get("code")) in _GONE else self._checked(answer)

    def _ask(
        self, method: str, path: str, document: object, cancelled: Cancelled, *, most: int = 1 << 20
    ) -> HttpAnswer:
        """The answer of the interface; the token is renewed once if it does not count any more."""
        body = json_body(document) if document is not None else b""
        for is_last in (False, True):
            headers = JSON_TYPE | {"authorization": f"Bearer {self._tenant_token(cancelled)}"}
            url = self._url(f"open-apis/{path}")
            answer = self.service.ask(method, url, cancelled, headers=headers, body=body, most=most)
            if number(answer.document.get("code")) not in _TOKEN_OVER or is_last:
                break
            self._token = ""
        return answer

    def _tenant_token(self, cancelled: Cancelled) -> str:
        now = self.service.clock.monotonic()
        if not self._token or now >= self._until:
            document = {"app_id": self.app_id, "app_secret": self.app_secret}
            reply = self._checked(self.post("open-apis/auth/v3/tenant_access_token/internal", document, cancelled))
            self._token = text(reply.get("tenant_access_token"))
            self._until = now + max(number(reply.get("expire")) - _LEFT, 0.0)
            if not self._token:
                raise self.service.not_understood(self.base_url)
        return self._token

    def _url(self, path: str) -> str:
        return f"{checked_url(self.base_url, 'channels.lark.base_url').rstrip('/')}/{path}"

    def _checked(self, answer: HttpAnswer) -> JsonObject:
        """The document of a success; Lark says what went wrong in `code` and `msg`, with any status."""
        reply = answer.document
        if "code" not in reply:
            url = self.base_url
            raise self.service.not_understood(url) if answer.is_success else self.service.refusal(url, answer)
        code = reply["code"]
        words = Sentence("{code} {msg}", code=code, msg=self.service.clean(text(reply.get("msg"))))
        if code == 0 and answer.status == 200:
            return reply
        if code in _BUSY or answer.status == 429:
            hint = "it asks for a pause; the message is sent again after it"
            raise Retryable("Lark takes no more messages for now: {words}", delay=answer.wait, hint=hint, words=words)
        if answer.status >= 500:
            raise Retryable("Lark is out of order: {words}", delay=0.0, hint="try again later", words=words)
        if code in _KEY:
            key = Sentence("check {id} and {secret}", id="channels.lark.app_id", secret=self.service.key)
            raise UserError("Lark does not know the app: {words}", hint=key, words=words)
        reach = "the app needs a bot, the right to send messages, and its owner among those who may use it"
        raise Permanent("Lark refuses: {words}", hint=reach, words=words)


def _kind(to: str) -> str:
    """The kind of an address: a chat, or a person in the app."""
    return "chat_id" if to.startswith("oc_") else "open_id"


def _button(choice: Choice) -> JsonObject:
    label: JsonObject = {"tag": "plain_text", "content": escape_line(choice.label)}
    return {"tag": "button", "type": "default", "text": label, "value": {REPLY: choice.reply}}
