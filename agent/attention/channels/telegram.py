"""A bot of Telegram: messages with buttons out, messages and pressed buttons in by long polling.

Texts are sent without a parse mode, so that Telegram shows any text as it is. The proof of a message is `CHAT:MESSAGE`,
and so is the id of one that comes in. The position is the number of the next update.
"""

from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, datetime

from agent.attention.channels.channel import Incoming, Message, Received
from agent.attention.channels.http import ChannelService, checked_url
from agent.attention.channels.wording import whole_of
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.escape import escape_line
from agent.llm.fields import items, mapping, number, text
from agent.llm.messages import Json, JsonObject
from agent.llm.provider import Cancelled
from agent.texts import Language, Sentence

MOST = 4_096
"""The most UTF-16 units of a message."""
MOST_REPLY = 64
"""The most bytes that a button carries."""
WAIT = 25
"""The seconds for which the service holds a request for updates open."""
TAKEN = 60.0
"""The pause in seconds while another program takes the updates of this bot."""


def utf16_units(told: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(told.encode("utf-16-le", "replace")) // 2


@dataclass(slots=True)
class Telegram:
    """The channel; `owner` is the number of the person's account."""

    base_url: str
    token: str
    owner: str
    service: ChannelService
    language: Language
    wait: int = WAIT
    name: str = "telegram"
    _me: JsonObject = field(default_factory=dict, init=False)

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Send it to `Message.to`, else to the owner."""
        chat = message.to or self.owner
        if not chat:
            raise UserError(
                "Telegram has nobody to write to: {setting} is empty",
                hint="set it to the number of your account there: vault-agent config set {setting} 123456789",
                setting="channels.telegram.owner",
            )
        fits = all(len(each.reply.encode()) <= MOST_REPLY for each in message.choices)
        told = whole_of(message, self.language, MOST, replies=not fits, size=utf16_units)
        document: dict[str, object] = {"chat_id": chat, "text": told, "link_preview_options": {"is_disabled": True}}
        if message.choices and fits:
            buttons = [[{"text": escape_line(each.label), "callback_data": each.reply}] for each in message.choices]
            document["reply_markup"] = {"inline_keyboard": buttons}
        there, _, rest = message.answers.partition(":")
        if there == chat and rest:
            answered = int(rest.partition(":")[0])
            document["reply_parameters"] = {"message_id": answered, "allow_sending_without_reply": True}
        sent = mapping(self._call("sendMessage", document, cancelled))
        shown = number(sent.get("message_id"))
        if not shown:
            raise self.service.not_understood(self.base_url)
        return f"{_id(mapping(sent.get('chat'))) or chat}:{shown}"

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """What came in; in groups, only what names the bot or answers it."""
        start = int(position) if position.isdecimal() else -1
        wait = self.wait if start >= 0 else 0
        wanted = {"offset": start, "timeout": wait, "allowed_updates": ["message", "callback_query"]}
        updates = [mapping(each) for each in items(self._call("getUpdates", wanted, cancelled, wait))]
        after = max([start, 0, *(number(each.get("update_id")) + 1 for each in updates)])
        if start < 0:
            return Received((), str(after))
        return Received([*self._messages(updates, cancelled)], str(after))

    def close(self) -> None:
        """Nothing: each look has a connection of its own."""

    def _messages(self, updates: list[JsonObject], cancelled: Cancelled) -> Iterator[Incoming]:
        for update in updates:
            pressed, said = mapping(update.get("callback_query")), mapping(update.get("message"))
            if pressed:
                yield from parse_press(pressed)
                self._confirm(pressed, cancelled)
            elif said:
                yield from parse_message(said, self._bot(cancelled) if is_group(said) else {})

    def _confirm(self, pressed: JsonObject, cancelled: Cancelled) -> None:
        """Tell Telegram that the owner's press has arrived, so that the button stops turning."""
        if _id(mapping(pressed.get("from"))) == self.owner:
            try:
                self._call("answerCallbackQuery", {"callback_query_id": text(pressed.get("id"))}, cancelled)
            except AgentError:
                return  # what was pressed has arrived all the same

    def _bot(self, cancelled: Cancelled) -> JsonObject:
        """The bot's own account."""
        self._me = self._me or mapping(self._call("getMe", {}, cancelled))
        return self._me

    def _call(self, method: str, document: object, cancelled: Cancelled, waits: float = 0.0) -> Json:
        """The result of a method of the bots' interface; raises as `Channel.send`."""
        base = checked_url(self.base_url, "channels.telegram.base_url").rstrip("/")
        url = f"{base}/bot{self.token}/{method}"
        answer = self.service.post(url, document, cancelled, waits=waits)
        said = answer.document
        if answer.status == 200 and said.get("ok") is True and said.get("result") is not None:
            return said["result"]
        words = self.service.clean(text(said.get("description")))
        if "error_code" in said and answer.status in (401, 404):
            hint = Sentence("check {key}: the token is the one that @BotFather gave", key=self.service.key)
            raise UserError("Telegram does not know the bot: {words}", hint=hint, words=words)
        if "error_code" in said and answer.status == 409:
            other = "another program uses this bot, or a webhook is set: stop it, or make a bot of your own"
            taken = "Telegram gives the messages to another program: {words}"
            raise Retryable(taken, delay=TAKEN, hint=other, words=words)
        if "error_code" in said and answer.status in (400, 403):
            start = "write to the bot once in Telegram, so that it may write to you, and check channels.telegram.owner"
            raise Permanent("Telegram refuses: {words}", hint=start, words=words)
        if answer.is_success:
            raise self.service.not_understood(url)
        raise self.service.refusal(url, answer, words, wait=number(mapping(said.get("parameters")).get("retry_after")))


def is_group(said: JsonObject) -> bool:
    """True for a message in a chat of several people."""
    return text(mapping(said.get("chat")).get("type")) != "private"


def parse_press(pressed: JsonObject) -> Iterator[Incoming]:
    """The message that a pressed button stands for; nothing for a press without a chat."""
    below = mapping(pressed.get("message"))
    chat, shown = _id(mapping(below.get("chat"))), number(below.get("message_id"))
    sender, data = _id(mapping(pressed.get("from"))), text(pressed.get("data"))
    if chat and sender:
        id, at = f"{chat}:{shown}:{text(pressed.get('id'))}", datetime.fromtimestamp(number(below.get("date")), UTC)
        yield Incoming(id, sender, chat, data, at, is_group(below), f"{chat}:{shown}")


def parse_message(said: JsonObject, me: JsonObject) -> Iterator[Incoming]:
    """The message, if it is one to the bot `me`: in a group, only one that names the bot or answers it."""
    chat, shown = _id(mapping(said.get("chat"))), number(said.get("message_id"))
    sender, told = _id(mapping(said.get("from"))), text(said.get("text")) or text(said.get("caption"))
    before = mapping(said.get("reply_to_message"))
    if is_group(said):
        name = f"@{text(me.get('username'))}"
        is_answer = bool(_id(me)) and _id(mapping(before.get("from"))) == _id(me)
        named = [each for each in _mentions(said, told) if each.casefold() == name.casefold()]
        if not is_answer and not named:
            return
        for each in named:
            told = told.replace(each, "").strip()
    if not chat or not sender:
        return
    at = datetime.fromtimestamp(number(said.get("date")), UTC)
    answers = f"{chat}:{number(before.get('message_id'))}" if before else ""
    is_forwarded = any(each in said for each in ("forward_origin", "forward_date", "forward_from"))
    yield Incoming(f"{chat}:{shown}", sender, chat, told.strip(), at, is_group(said), answers, is_forwarded)


def _mentions(said: JsonObject, told: str) -> Iterator[str]:
    """The names with an @ in a text; Telegram counts places in UTF-16 units."""
    units = told.encode("utf-16-le", "surrogatepass")
    for each in (*items(said.get("entities")), *items(said.get("caption_entities"))):
        entity = mapping(each)
        if text(entity.get("type")) == "mention":
            start, length = number(entity.get("offset")), number(entity.get("length"))
            yield units[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")


def _id(account: JsonObject) -> str:
    """The number of an account or a chat, which may be below zero; empty without one."""
    value = account.get("id")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""
