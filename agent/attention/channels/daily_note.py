"""The daily note as a channel: always there, since it needs no service. Notices have a part of the note of their own.

The last line of a notice is a comment with its id, so that a second try finds the first. The comment is indented: one
at the beginning of a line ends a part of the note.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Literal, Protocol

from agent.attention.channels.channel import Message
from agent.attention.channels.wording import body_of, title_of
from agent.dataclass import dataclass
from agent.errors import Retryable
from agent.llm.messages import Cancelled
from agent.texts import Language, Sentence
from agent.vault.change import Stamp
from agent.vault.store import Vault

_MOST = 4_000
"""The most characters of a text: the note is read as a whole."""
_SHORT = 8
"""The characters of a short commit."""


class DayForm(Protocol):
    """The form of daily notes."""

    def beginning(self, vault: Vault, day: date) -> bytes:
        """The initial text of the note of a day."""

    def block(self, when: datetime, title: str, bullets: Sequence[str]) -> str:
        """A heading with the time, and a list."""

    def section(self, kind: Literal["notices"], language: Language) -> str:
        """The heading of the part with the notices."""

    def inert(self, text: str) -> str:
        """The text with everything escaped that an editor would load or run."""


@dataclass(frozen=True, slots=True)
class DailyNote:
    """The channel; `now` has the date of the note, which may run faster than the machine's clock."""

    vault: Vault
    now: Callable[[], datetime]
    form: DayForm
    language: Language
    name: str = "daily"

    def send(self, message: Message, cancelled: Cancelled) -> str:
        """Append it; the proof is the note's path and the short commit, or the notice's id while that waits."""
        now = self.now()
        path = self.vault.home.day_note(now.date())
        mark = f"%% vault-agent: notice {message.id} %%"
        if mark.encode() in (self.vault.read(path) or b""):
            return f"{path} {message.id}"
        text = body_of(message, self.language, _MOST, replies=False, elsewhere=True)
        lines = [self.form.inert(line) for line in text.splitlines() if line.strip()]
        block = self.form.block(now, self.form.inert(title_of(message)), lines) + f"  {mark}\n"
        section = self.form.section("notices", self.language).encode()
        stamp = Stamp("agent", tool="daily")
        with self.vault.transaction(Sentence("memory(daily): a notice"), stamp) as day:
            day.append(path, block.encode(), self.form.beginning(self.vault, now.date()), section)
        if not day.outcome.paths and day.outcome.queued is None:
            raise Retryable("{path} has not taken the notice", hint="vault-agent doctor looks for the cause", path=path)
        return f"{path} {(day.outcome.commit or day.outcome.queued or message.id)[:_SHORT]}"
