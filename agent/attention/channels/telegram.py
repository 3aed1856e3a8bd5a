"""A bot of Telegram: messages with buttons out, messages and pressed buttons in by long polling.

Texts are sent without a parse mode, so that Telegram shows any text as it is. The proof of a message is `CHAT:MESSAGE`,
and so is the id of one that comes in. The position is the number of the next update.
"""

import re
from dataclasses import field
from functools import partial

from agent.attention.channels.channel import Incoming, Message, Received, SentFile, too_large
from agent.attention.channels.http import ChannelService, checked_url, json_body
from agent.attention.channels.items import read_items
from agent.attention.channels.telegram_messages import account_id, is_group, parse_message, parse_press
from agent.attention.channels.wording import whole_of
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.escape import escape_line
from agent.llm.messages import Cancelled, Json, JsonObject, items, mapping, never, number, parsed, text
from agent.texts import Language, Sentence

MOST = 4_096
"""The most UTF-16 units of a message."""
MOST_REPLY = 64
"""The most bytes that a button carries."""
WAIT = 25
"""The seconds for which the service holds a request for updates open."""
MOST_AT_ONCE = 5
"""The updates that are asked for at once: so many fit into one answer, whatever a stranger puts into each."""
_FILE_PATH = re.compile(r"[A-Za-z0-9_.\-/]{1,300}")
_FETCH_SECONDS = 60.0
"""The seconds that a file may take."""
TAKEN = 60.0
"""The pause in seconds while another program takes the updates of this bot."""


def utf16_units(content: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(content.encode("utf-16-le", "replace")) // 2


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
        content = whole_of(message, self.language, MOST, replies=not fits, size=utf16_units)
        document: dict[str, object] = {"chat_id": chat, "text": content, "link_preview_options": {"is_disabled": True}}
        if message.choices and fits:
            buttons = [[{"text": escape_line(each.label), "callback_data": each.reply}] for each in message.choices]
            document["reply_markup"] = {"inline_keyboard": buttons}
        there, _, rest = message.answers.partition(":")
        if there == chat and rest:
            answered = int(rest.partition(":")[0])
            document["reply_parameters"] = {"message_id": answered, "allow_sending_without_reply": True}
        sent = mapping(self._call("sendMessage", document, cancelled))
        sent_id = number(sent.get("message_id"))
        if not sent_id:
            raise self.service.not_understood(self.base_url)
        return f"{account_id(mapping(sent.get('chat'))) or chat}:{sent_id}"

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The messages that came in; in groups also those of others, as far as Telegram gives them to a bot."""
        start = int(position) if position.isdecimal() else -1
        wait = self.wait if start >= 0 else 0
        wanted = {"offset": start, "timeout": wait, "allowed_updates": ["message", "callback_query"]}
        found = self._call("getUpdates", {**wanted, "limit": MOST_AT_ONCE}, cancelled, wait)
        updates = [mapping(each) for each in items(found)]
        after = max([start, 0, *(number(each.get("update_id")) + 1 for each in updates)])
        if start < 0:
            return Received((), str(after))
        read = read_items(updates, partial(self._message, cancelled=cancelled), json_body)
        for each in updates:
            if pressed := mapping(each.get("callback_query")):
                self._confirm(pressed, cancelled)
        return Received(read.messages, str(after), unread=read.unread)

    def reread(self, data: bytes) -> Incoming | None:
        """The message in an update that could not be read."""
        return self._message(mapping(parsed(data)), never)

    def fetch(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        """The bytes of a file; Telegram gives a bot 20 MB at most."""
        if file.size > most:
            raise too_large(file.name, most)
        found = mapping(self._call("getFile", {"file_id": file.reference}, cancelled))
        path = text(found.get("file_path"))
        if not _FILE_PATH.fullmatch(path) or ".." in path:
            raise self.service.not_understood(self.base_url)
        base = checked_url(self.base_url, "channels.telegram.base_url").rstrip("/")
        url = f"{base}/file/bot{self.token}/{path}"
        answer = self.service.ask("GET", url, cancelled, waits=_FETCH_SECONDS, most=most + 1)
        if not 200 <= answer.status < 300:
            raise self.service.refusal(self.base_url, answer)
        if len(answer.body) > most:
            raise too_large(file.name, most)
        return answer.body

    def close(self) -> None:
        """Nothing: each look has a connection of its own."""

    def _message(self, update: JsonObject, cancelled: Cancelled) -> Incoming | None:
        pressed, message = mapping(update.get("callback_query")), mapping(update.get("message"))
        if pressed:
            return parse_press(pressed)
        return parse_message(message, self._bot(cancelled) if is_group(message) else {}) if message else None

    def _confirm(self, pressed: JsonObject, cancelled: Cancelled) -> None:
        """Tell Telegram that the owner's press has arrived, so that the button stops turning."""
        if account_id(mapping(pressed.get("from"))) == self.owner:
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
        reply = answer.document
        if answer.status == 200 and reply.get("ok") is True and reply.get("result") is not None:
            return reply["result"]
        words = self.service.clean(text(reply.get("description")))
        if "error_code" in reply and answer.status in (401, 404):
            hint = Sentence("check {key}: the token is the one that @BotFather gave", key=self.service.key)
            raise UserError("Telegram does not know the bot: {words}", hint=hint, words=words)
        if "error_code" in reply and answer.status == 409:
            other = "another program uses this bot, or a webhook is set: stop it, or make a bot of your own"
            taken = "Telegram gives the messages to another program: {words}"
            raise Retryable(taken, delay=TAKEN, hint=other, words=words)
        if "error_code" in reply and answer.status in (400, 403):
            start = "write to the bot once in Telegram, so that it may write to you, and check channels.telegram.owner"
            raise Permanent("Telegram refuses: {words}", hint=start, words=words)
        if answer.is_success:
            raise self.service.not_understood(url)
        raise self.service.refusal(url, answer, words, wait=number(mapping(reply.get("parameters")).get("retry_after")))
