"""What a channel is: it delivers a message and proves it, and some take in what their person writes back."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.runs import ChatOrigin
from agent.llm.messages import Cancelled


@dataclass(frozen=True, slots=True)
class Choice:
    """A button below a message: its label in the person's language, and the reply that it stands for (`yes 7K2`)."""

    label: str
    reply: str


@dataclass(frozen=True, slots=True)
class Message:
    """Plain text for one person: `title` is one line, empty in an answer; `text` may have several lines, or be empty.

    `id` is the same in each try, so that a channel that can tell will not show it twice. `to` is an address of the
    channel, such as a chat; empty for the person of the settings. `answers` is the channel's id of a message to which
    this is the answer. `again`: it may have been shown before, and the person is told so.
    """

    id: str
    title: str
    text: str = ""
    choices: tuple[Choice, ...] = ()
    to: str = ""
    answers: str = ""
    again: bool = False


FileKind: TypeAlias = Literal["voice", "picture", "file"]


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that came with a message and lies with the service still. `reference` is the channel's, by which it is
    fetched; `size` is in bytes, 0 if the service does not say it. `is_own`: its sender does not pass it on. `kept` is
    its path in the vault, empty before it is there."""

    kind: FileKind
    name: str
    reference: str
    size: int = 0
    is_own: bool = True
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that came in: one to the agent, or what others say in a group where the agent is (`is_overheard`).

    `id` is the channel's, the same each time it comes in. `sender` is the channel's stable id of who wrote it, never a
    name. `chat` is where an answer goes (`Message.to`). `text` are its sender's own words, with the reply of a `Choice`
    if one was chosen; `foreign` is the text of others that it passes on or quotes. `group`: others read there, too.
    `answers` is the channel's id of the message that it answers, empty if it answers none. `subject` is the line above
    it, where the channel has one; `heading` is the same, if its sender has typed it. `begins`: it answers nothing and
    begins a conversation of its own. `thread` is the channel's id of the thread or topic that it belongs to, empty if
    there is none.

    `is_overheard`: it neither names the agent nor answers it; all of its text is `foreign`, and its `sender` is empty
    if they have only passed it on. `author` is the name that a sender in a group has given themselves, in one short
    line; empty if the channel does not say it. `files` lie with the service still.
    """

    id: str
    sender: str
    chat: str
    text: str
    at: datetime
    group: bool = False
    answers: str = ""
    foreign: str = ""
    subject: str = ""
    heading: str = ""
    begins: bool = False
    thread: str = ""
    is_overheard: bool = False
    author: str = ""
    files: tuple[SentFile, ...] = ()

    @property
    def origin(self) -> ChatOrigin:
        """The place that it came from."""
        return ChatOrigin(self.chat, self.sender, self.thread)

    @property
    def words(self) -> str:
        """The sender's words: the text, below the heading."""
        return "\n\n".join(filter(None, (self.heading, self.text)))


@dataclass(frozen=True, slots=True)
class UnreadItem:
    """Something that came in and cannot be read as a message: its bytes, and why."""

    data: bytes
    why: str


def _no_confirmation() -> None:
    """Nothing: the next call's position tells the service what has arrived."""


@dataclass(frozen=True, slots=True)
class Received:
    """The items that came in, in order, and the position after them: the next call begins there, also after a restart.

    `confirm` is called once all is on disk: a service that has no positions sends again what was not confirmed.
    `unread` is what could not be read: the position is after it, too.
    """

    messages: Sequence[Incoming]
    position: str
    confirm: Callable[[], None] = _no_confirmation
    unread: Sequence[UnreadItem] = ()


class Channel(Protocol):
    """Delivers messages; made from the settings, and used by one thread at a time."""

    @property
    def name(self) -> str:
        """The name in settings and receipts, such as `telegram`."""

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Deliver a message; returns the channel's proof, such as the id of the message there.

        Raises `Retryable` (with the delay that the service asked for) when a later try may succeed and nothing was
        delivered, `PerhapsDone` when it may have been, `Permanent` or `UserError` when none will.
        """


class Inbound(Protocol):
    """A channel that also receives, and knows its owner."""

    @property
    def name(self) -> str: ...

    @property
    def owner(self) -> str:
        """The sender whose words count as the person's own; empty: nobody's do."""

    def receive(self, position: str, cancelled: Cancelled) -> Received:
        """The items that came in since `position` (empty: from now on); waits some minutes at most for something.

        Raises as `Channel.send` does; not for what somebody has sent.
        """

    def reread(self, data: bytes) -> Incoming | None:
        """The message in the bytes of an `UnreadItem`; None if there is none. Raises whatever its parser raises."""

    def close(self) -> None:
        """End a connection that is kept open between two calls; it is not used any more."""


@runtime_checkable
class FileSource(Protocol):
    """An inbound channel whose messages may have files."""

    def fetch(self, file: SentFile, most: int, cancelled: Cancelled) -> bytes:
        """The bytes of a file. Raises as `Channel.send` does, and `UserError` for one with more than `most` bytes."""


def too_large(name: str, most: int) -> UserError:
    """The error for a file that is larger than what is kept."""
    hint = "capture.largest_megabytes raises the limit"
    return UserError("{name} is larger than {count} MB", hint=hint, name=name, count=most // 1_000_000)
