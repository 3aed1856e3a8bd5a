"""What came in through a channel and cannot be read: set aside once, so that the next item is read.

Each item is two files in the vault's private folder, named by a digest of its bytes: its bytes, and what is known of
them. So an item that comes again is known. The person can look at it, and have it tried again.
"""

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from agent.attention.channels.channel import UnreadItem
from agent.config import durable, private
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.json_value import parse_json

MOST = 200
"""The items of a channel that are kept; the oldest go first."""
MOST_BYTES = 400_000
"""The bytes that are kept of an item."""
_ID = re.compile(r"[0-9a-f]{16}")
_CHANNEL = re.compile(r"[a-z][a-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True)
class SetAsideItem:
    """An item: the channel that it came by, its id, when it came, why it cannot be read, and its length in bytes."""

    channel: str
    id: str
    at: datetime
    why: str
    length: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """The items of all channels in one folder. `add` is durable when it returns."""

    folder: Path

    def add(self, channel: str, item: UnreadItem, at: datetime) -> bool:
        """Set an item aside; False if it is there already. Raises `OSError`."""
        id, place = sha256(item.data).hexdigest()[:16], self.folder / channel
        if (place / f"{id}.json").exists():
            return False
        for old in self.of(channel)[MOST - 1 :]:
            self.remove(old)
        private.make_folder(place)
        private.replace_bytes(place / f"{id}.data", item.data[:MOST_BYTES])
        about = {"at": at.isoformat(), "why": item.why, "length": len(item.data)}
        durable.replace(place / f"{id}.json", json.dumps(about))
        return True

    def all(self) -> Sequence[SetAsideItem]:
        """The items of all channels, of each the latest first."""
        try:
            with os.scandir(self.folder) as found:
                channels = sorted(each.name for each in found if _CHANNEL.fullmatch(each.name))
        except OSError:
            return ()
        return [item for channel in channels for item in self.of(channel)]

    def of(self, channel: str) -> list[SetAsideItem]:
        """The items of one channel, the latest first; a damaged one is left out."""
        found = [_load(channel, file) for file in (self.folder / channel).glob("*.json")]
        return sorted((each for each in found if each is not None), key=lambda each: each.at.timestamp(), reverse=True)

    def find(self, id: str) -> SetAsideItem:
        """The item with this id, or its beginning; raises `UserError`."""
        found = [each for each in self.all() if id and each.id.startswith(id)]
        if len(found) != 1:
            raise UserError(
                "no single item that was set aside has the id {id}",
                hint="vault-agent channels unread lists them",
                id=id,
            )
        return found[0]

    def data(self, item: SetAsideItem) -> bytes:
        """The bytes of an item; empty if they are gone."""
        with suppress(OSError):
            return self._file(item, "data").read_bytes()
        return b""

    def ask_again(self, item: SetAsideItem) -> None:
        """Have an item tried again by the daemon. Raises `OSError`."""
        private.touch(self._file(item, "again"))

    def asked_again(self, channel: str) -> list[SetAsideItem]:
        """The items of a channel that are to be tried again."""
        wanted = {each.stem for each in (self.folder / channel).glob("*.again")}
        return [each for each in self.of(channel) if each.id in wanted] if wanted else []

    def give_up_again(self, item: SetAsideItem) -> None:
        """It was tried again, and cannot be read still. Raises `OSError`."""
        self._file(item, "again").unlink(missing_ok=True)

    def remove(self, item: SetAsideItem) -> None:
        """Forget an item: it was read, or nobody wants it. Raises `OSError`."""
        for ending in ("again", "data", "json"):
            self._file(item, ending).unlink(missing_ok=True)

    def _file(self, item: SetAsideItem, ending: str) -> Path:
        return self.folder / item.channel / f"{item.id}.{ending}"


def _load(channel: str, file: Path) -> SetAsideItem | None:
    if not _ID.fullmatch(file.stem):
        return None
    try:
        record = parse_json(file.read_bytes())
        at, length = datetime.fromisoformat(str(record["at"])).astimezone(), min(int(record["length"]), 1 << 40)
        return SetAsideItem(channel, file.stem, at, str(record["why"])[:200], length)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
