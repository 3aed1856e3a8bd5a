"""What was said lately in the groups of one channel, for a run in which the agent is named there.

All of it is the words of strangers. It stands in the records only, where a forgetting goes through it; no note has it,
and it is deleted once a run was given it, or after two days.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from agent.attention.channels.channel import Incoming
from agent.dataclass import dataclass
from agent.records.database import Records
from agent.records.table import Table

LONGEST = 300
"""The most characters of one message."""
GROUPS = 20
"""The most groups of a channel: anybody can add a bot to one."""
AGE = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class GroupMessage:
    """One message: its id, that of its sender, the name that the sender has chosen, the time, and its text in one
    line."""

    id: str
    sender: str
    author: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class GroupMessages:
    """The last messages of a group, in their order."""

    messages: tuple[GroupMessage, ...]


@dataclass(frozen=True, slots=True)
class GroupTalk:
    """The talk in the groups of the channel of this `name`, at most `most` messages of each; `mask` covers secrets."""

    records: Records
    name: str
    mask: Callable[[str], str]
    most: int

    def add(self, messages: Sequence[Incoming], owner: str, now: datetime) -> None:
        """Keep those messages that were said in a group and are not the owner's own to the agent."""
        for chat in dict.fromkeys(each.chat for each in messages if each.group):
            fresh = [each for each in messages if each.chat == chat and (each.is_overheard or each.sender != owner)]
            with self.records.transaction():  # what is forgotten meanwhile must not come back
                self._add(chat, fresh, now)
        self._leave_out(now)

    def _add(self, chat: str, fresh: Sequence[Incoming], now: datetime) -> None:
        known = self.recent(chat, now)
        ids = {each.id for each in known}
        added = tuple(remark for each in fresh if each.id not in ids and (remark := self._remark(each)).text)
        remarks = (*known, *added)[-self.most :] if self.most else ()
        if added or not self.most:
            self._put(chat, remarks)

    def recent(self, chat: str, now: datetime) -> tuple[GroupMessage, ...]:
        """The talk of a group, the oldest first."""
        talk = self._table.get(self._key(chat))
        return tuple(each for each in talk.messages if each.at > now - AGE) if talk is not None else ()

    def text(self, remarks: Sequence[GroupMessage], owner: str, owner_name: str) -> str:
        """A talk as lines: who, then what. A sender without a name is a number."""
        unnamed = dict.fromkeys(each.sender for each in remarks if not each.author)
        names = {sender: f"#{number}" for number, sender in enumerate(unnamed, start=1)} | {owner: owner_name}
        return "\n".join(f"{names.get(each.sender) or f'@{each.author}'}: {each.text}" for each in remarks)

    def drop(self, chat: str, messages: Sequence[GroupMessage], now: datetime) -> None:
        """Delete what a run was given of the talk of a group."""
        ids = {each.id for each in messages}
        with self.records.transaction():
            self._put(chat, tuple(each for each in self.recent(chat, now) if each.id not in ids))

    @property
    def _table(self) -> Table[GroupMessages]:
        return Table(self.records, "group-talk", GroupMessages, is_flushed=False)

    def _key(self, chat: str) -> str:
        return f"{self.name} {chat}"

    def _put(self, chat: str, messages: tuple[GroupMessage, ...]) -> None:
        if messages:
            self._table.put(GroupMessages(messages), self._key(chat))
        else:
            self._table.drop(self._key(chat))

    def _remark(self, message: Incoming) -> GroupMessage:
        line = self.mask(" ".join(f"{message.words} {message.foreign}".split()))  # half of a secret looks like none
        shortened = line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
        return GroupMessage(message.id, message.sender, self.mask(message.author), message.at, shortened)

    def _leave_out(self, now: datetime) -> None:
        """Delete what is old, and the groups beyond the last few."""
        own = [(key, talk) for key, talk in self._table.items() if key.startswith(f"{self.name} ")]
        last = {key: max(each.at for each in talk.messages) for key, talk in own if talk.messages}
        newest = sorted(last, key=lambda key: last[key])[-GROUPS:]
        for key, _ in own:
            if key not in newest or last[key] <= now - AGE:
                self._table.drop(key)
