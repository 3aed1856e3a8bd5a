"""Incoming webhooks of messengers: Slack, Mattermost, Discord and WeCom take JSON at an address that is the key.

Each takes the text in a form of its own, in which it shows any text as it is, and proves in a way of its own that it
has it. They carry nothing back, so that what can be decided is said in words.
"""

import re
from collections.abc import Callable

from agent.attention.channels.channel import Message
from agent.attention.channels.http import ChannelService, HttpAnswer, checked_url
from agent.attention.channels.wording import whole_of
from agent.dataclass import dataclass
from agent.errors import Retryable, UserError
from agent.llm.messages import Cancelled, mapping, number, text
from agent.texts import Language

_BUSY_WECOM = 45009
_MARKDOWN = re.compile(r"[\\`*_\[\]~|]|^ *[#>+\-]|^ *\d+(?=[.)])", re.MULTILINE)
"""What Markdown gives a meaning to: signs anywhere, and those at the beginning of a line."""
_MENTION = re.compile(r"@(?=\w)")


@dataclass(frozen=True, slots=True)
class HookForm:
    """The form in which a service takes messages: the most it takes, as `size` counts it, the document for a text, and
    the proof in an answer, empty if it proves nothing."""

    name: str
    most: int
    document: Callable[[str], object]
    proof: Callable[[HttpAnswer], str]
    size: Callable[[str], int] = len
    query: str = ""
    plain: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Hook:
    """The channel of one address."""

    url: str
    form: HookForm
    service: ChannelService
    language: Language

    @property
    def name(self) -> str:
        return self.form.name

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Post it."""
        form, url = self.form, checked_url(self.url, self.service.address)

        def size(content: str) -> int:
            return form.size(form.plain(content))

        content = whole_of(message, self.language, form.most, replies=False, elsewhere=True, size=size)
        url += ("&" if "?" in url else "?") + form.query if form.query else ""
        answer = self._posted(url, form.document(form.plain(content)), cancelled)
        proof = form.proof(answer)
        if not proof:
            raise self.service.not_understood(url)
        return f"{proof} {message.id}" if proof == "ok" else proof

    def _posted(self, url: str, document: object, cancelled: Cancelled) -> HttpAnswer:
        """The answer; raises also for an error that comes with a status of success."""
        answer = self.service.post(url, document, cancelled)
        is_page = answer.body.lstrip()[:1] == b"<"  # Slack says that its plain "ok" is a page
        if not 200 <= answer.status < 300 or is_page:
            raise self.service.refusal(url, answer)
        failed = number(answer.document.get("errcode"))
        if failed == _BUSY_WECOM:
            hint = "it asks for a pause; the message is sent again after it"
            raise Retryable("WeCom takes no more messages for now", delay=60.0, hint=hint)
        if failed:
            words = self.service.clean(text(answer.document.get("errmsg")))
            raise UserError("WeCom refuses the message: {words}", hint="check {key}", words=words, key=self.service.key)
        return answer


def _is_ok(answer: HttpAnswer) -> str:
    return "ok" if answer.body.strip() == b"ok" else ""


def _slack(content: str) -> object:
    """A section of plain text, in which Slack interprets nothing; `text` is what a notification shows."""
    safe = content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = {"type": "plain_text", "text": content, "emoji": False}
    return {"text": safe, "mrkdwn": False, "blocks": [{"type": "section", "text": plain}]}


def without_markdown(content: str) -> str:
    """The text with every sign of Markdown escaped, and with names that nobody is called by."""
    return _MENTION.sub("@\u200b", _MARKDOWN.sub(_escaped, content))


def _escaped(found: re.Match[str]) -> str:
    """The sign behind a backslash; the number of a list behind a sign that nobody sees."""
    blanks, sign = found[0][: -len(found[0].lstrip())] if found[0] != found[0].lstrip() else "", found[0].lstrip()
    return f"{blanks}\u200b{sign}" if sign.isdecimal() else f"{blanks}\\{sign}"


def _discord(answer: HttpAnswer) -> str:
    return text(mapping(answer.document).get("id"))


def _wecom(answer: HttpAnswer) -> str:
    return "ok" if answer.document.get("errcode") == 0 else ""


def utf8_bytes(content: str) -> int:
    """The length of a text in bytes."""
    return len(content.encode("utf-8", "replace"))


SLACK = HookForm("slack", 3_000, _slack, _is_ok)
MATTERMOST = HookForm("mattermost", 4_000, lambda content: {"text": content}, _is_ok, plain=without_markdown)
DISCORD = HookForm(
    "discord",
    2_000,
    lambda content: {"content": content, "allowed_mentions": {"parse": []}, "flags": 4},  # 4: no preview of links
    _discord,
    query="wait=true",
    plain=lambda content: without_markdown(content).replace("<", "\\<"),
)
WECOM = HookForm(
    "wecom", 2_048, lambda content: {"msgtype": "text", "text": {"content": content}}, _wecom, size=utf8_bytes
)
