"""Puts foreign values through one door of the program, and counts what went wrong: a process of its own, with a limit
of memory. `python -m tests.trust.foreign_doors DOOR COUNT` prints what was found."""

import json
import random
import re
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import count as numbers
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.attention.channels.channel import Inbound
from agent.attention.channels.http import HttpAnswer
from agent.attention.channels.items import read_items
from agent.attention.channels.lark_events import parse_event
from agent.attention.channels.mail_in import MailIn
from agent.attention.channels.mail_token import ReplyToken
from agent.attention.channels.sent_words import sent_words
from agent.attention.channels.telegram import MOST_AT_ONCE, Telegram
from agent.attention.set_aside import SetAside
from agent.background.incoming.queue import MessageQueue
from agent.clock import SystemClock
from agent.config.load import load_settings
from agent.errors import ConfigError
from agent.llm.messages import never
from agent.records.database import Records
from tests.attention.mailbox import PASSWORD, mailbox
from tests.attention.rigs.mail import SETTINGS
from tests.importers.exports import take
from tests.interfaces.http.doors import open_house
from tests.trust import foreign
from tests.vaults import make_vault

LIMIT = 3 << 30
"""The bytes of addresses that the process may use; what it really takes is in the result."""
TOKEN = ReplyToken(b"k" * 32)
OURS = TOKEN.message_id("01HZZZZZZZ0000000000000001", "agent@example.org")


@dataclass
class Passed:
    """What happened at a door: `items` were sent, `read` of the good ones among them were read, `good` were sent.
    `failed` are errors past the door, `twice` items that were met twice, `aside` those that were set aside;
    `megabytes` is the most memory."""

    items: int = 0
    good: int = 0
    read: int = 0
    twice: int = 0
    aside: int = 0
    megabytes: int = 0
    failed: tuple[str, ...] = ()

    def fail(self, what: str) -> None:
        self.failed = (*self.failed, what[:500])[:5]


def _through(inbound: Inbound, put: Callable[[], str], count: int, folder: Path) -> Passed:
    """Have a channel read so many items, in the way that the daemon does; `put` sends a few and a good one, and returns
    the text of that."""
    found, ids = Passed(), map(str, numbers())
    queue, aside = MessageQueue(Records(folder, durable=False), "queue", str), SetAside(folder / "aside")
    queue.load()
    clock = SystemClock()
    while found.items < count:
        wanted, read = put(), 0
        found.items, found.good = found.items + MOST_AT_ONCE, found.good + 1
        for _ in range(3):
            try:
                received = inbound.receive(queue.position, never)
            except Exception as error:  # noqa: BLE001 - whatever passes the door is what is looked for
                found.fail(f"{type(error).__name__}: {error}")
                continue
            for each in received.unread:
                found.aside += aside.add("door", each, clock.now())
            queue.take_in(received, inbound.owner, lambda: next(ids))
            read += [each.message.text for each in queue.waiting].count(wanted)
            found.twice += len({each.message.id for each in queue.waiting}) != len(queue.waiting)
            for entry in queue.waiting:
                queue.done(entry)
        found.read += read == 1
        found.twice += read > 1
    return found


def through_mail(count: int, folder: Path) -> Passed:
    """Mails in a mailbox, each few of them with a reply of the owner's below them."""
    chance = random.Random(f"mail {count}")
    with mailbox() as box:
        settings = replace(SETTINGS, imap_host="127.0.0.1", imap_port=box.port, user="anna")
        inbound = MailIn(settings, PASSWORD, TOKEN, SystemClock(), wait=0.0, sent=lambda id: sent_words("May it?"))
        position = inbound.receive("", never).position

        def put() -> str:
            box.mails.clear()
            box.times.clear()
            for _ in range(MOST_AT_ONCE - 1):
                box.put(foreign.mail(chance))
            told = f"good {chance.randrange(10**12)}"
            box.put(
                f"From: anna@example.org\r\nMessage-ID: <{told[5:]}@x>\r\nIn-Reply-To: {OURS}\r\n\r\n{told}".encode()
            )
            return told

        first = MessageQueue(Records(folder, durable=False), "queue", str)
        with first.changing():
            first.position = position
        return _through(inbound, put, count, folder)


class _Service:
    """A service of Telegram that has some updates."""

    key = "channels.telegram.token"

    def __init__(self) -> None:
        self.updates: list[tuple[int, str]] = []

    def post(self, url: str, document: Mapping[str, object], *_: object, **__: object) -> HttpAnswer:
        first = int(str(document.get("offset", 0)))
        due = [text for number, text in self.updates if number >= first][: int(str(document.get("limit", 100)))]
        result = "[" + ",".join(due) + "]" if url.endswith("getUpdates") else '{"id": 99, "is_bot": true}'
        body = f'{{"ok": true, "result": {result}}}'.encode("utf-8", "surrogatepass")
        return HttpAnswer(200, "application/json", body, 0.0)

    def clean(self, words: str) -> str:
        return words


def _update(number: int, text: str) -> dict[str, object]:
    account, chat = {"id": 7, "is_bot": False}, {"id": 7, "type": "private"}
    marks = [{"type": "bold", "offset": 0, "length": 2}]
    said = {"message_id": number, "date": 1_800_000_000, "from": account, "chat": chat, "text": text, "entities": marks}
    return {"update_id": number, "message": {**said, "reply_to_message": said}}


def through_messages(count: int, folder: Path) -> Passed:
    """Updates of Telegram as its service may give them, each few of them with a message of the owner's; and the same
    bytes as events of Lark."""
    chance, service, last = random.Random(f"messages {count}"), _Service(), numbers(1)
    inbound = Telegram("http://127.0.0.1", "1:t", "7", service, "en", wait=0)  # type: ignore[arg-type]  # a fake

    def put() -> str:
        service.updates.clear()
        for _ in range(MOST_AT_ONCE - 1):
            number = next(last)
            text = foreign.json_text(chance, _update(number, "x")["message"], 1)
            service.updates.append((number, f'{{"update_id": {number}, "message": {text}}}'))
            payload = foreign.body(
                chance, {"header": {"event_type": "im.message.receive_v1"}, "event": {"message": text}}
            )
            read_items([payload], lambda each: parse_event(each, lambda: "ou_bot"), bytes)
        number = next(last)
        told = f"good {chance.randrange(10**12)}"
        service.updates.append((number, json.dumps(_update(number, told))))
        return told

    first = MessageQueue(Records(folder, durable=False), "queue", str)
    with first.changing():
        first.position = "1"
    return _through(inbound, put, count, folder)


_FIELDS: Sequence[tuple[str, object]] = (
    *(("text", "x"), ("title", "x"), ("type", "scheduled"), ("name", "n"), ("task", "t"), ("interval_seconds", 60)),
    *(("scheduled_time", "2026-12-01T00:00:00Z"), ("priority", 5), ("on", {"every": 60}), ("cron", "0 8 * * *")),
)


def through_webhook(count: int, folder: Path) -> Passed:
    """Requests to every operation that takes a body; after each few a good one."""
    chance, found = random.Random(f"webhook {count}"), Passed()
    with open_house(folder) as house:
        paths = house.get("/openapi.json")["paths"]
        takes = [
            (method, path) for path, all_ in paths.items() for method, each in all_.items() if "requestBody" in each
        ]
        headers = {"content-type": "application/json"}
        for number in range(count):
            method, path = chance.choice(takes)
            path = path.replace("{path}", "x.md").replace("{id}", chance.choice(("x", "9" * 400, "%00", "%ff")))
            sent = foreign.body(chance, dict(chance.sample(_FIELDS, chance.randrange(1, 6))))
            try:
                answer = house.client.request(method.upper(), path, content=sent, headers=headers)
                if answer.status_code >= 500 and answer.status_code != 503:
                    found.fail(f"{method} {path} {sent[:100]!r}: {answer.status_code} {answer.text[:300]}")
            except Exception as error:  # noqa: BLE001 - a connection that is cut is a failure, too
                found.fail(f"{method} {path}: {type(error).__name__}: {error}")
            found.items += 1
            if number % 10 == 9:
                found.good += 1
                found.read += house.client.get("/api/v1/notes", params={"limit": 1}).status_code == 200
    return found


def through_archive(count: int, folder: Path) -> Passed:
    """Folders of memories of an older layout, each with a good one; each is imported twice."""
    chance, found = random.Random(f"archive {count}"), Passed()
    vault = make_vault(folder, clock=SystemClock())
    keys = (
        "id",
        "key",
        "created",
        "created_at",
        "type",
        "scope",
        "channel",
        "source",
        "keywords",
        "slots",
        "chat_id",
        "x",
    )
    while found.items < count:
        place = folder / f"archive {found.items}"
        place.mkdir()
        for number in range(49):
            name = chance.choice(
                (f"{number}.md", f"{chance.randrange(1 << 90):027d}"[:27] + ".md", f"\udcff{number}.md")
            )
            head = foreign.yaml_text(chance, keys)
            data = b"---\n" + head + b"---\n" + foreign.body(chance, {"text": "x"})[:2_000]
            with suppress(OSError):
                (place / name).write_bytes(data)
        told = f"good {chance.randrange(10**12)}"
        (place / f"{chance.getrandbits(120):026d}"[:26]).with_suffix(".md").write_text(f"---\nid: x\n---\n{told}\n")
        (place / f"{'0' * 8}-0000-0000-0000-{found.items:012d}.md").write_text(f"---\ntype: fact\n---\n{told}!\n")
        try:
            _, first = take(vault, place, "older-layout")
            _, again = take(vault, place, "older-layout")
            found.read += any(told.encode() in (vault.read(path) or b"") for path in first.paths)
            found.twice += len(again.paths)
        except Exception as error:  # noqa: BLE001 - as above
            found.fail(f"{type(error).__name__}: {error}")
        found.items, found.good = found.items + 50, found.good + 1
    return found


def through_settings(count: int, folder: Path) -> Passed:
    """Settings of the machine and of the vault; after each the good ones are read."""
    chance, found = random.Random(f"settings {count}"), Passed()
    vault, home = folder / "vault", folder / "home"
    (home / "config").mkdir(parents=True)
    vault.mkdir()
    environ = {"VAULT_AGENT_HOME": str(home)}
    keys = ("vault.language", "vault", "git.quiet_seconds", "llm", "channels", "spend", "vault.folder", "x", "index")
    for number in range(count):
        file = chance.choice((vault / "vault-agent.yaml", home / "config/config.yaml"))
        sent = foreign.yaml_text(chance, keys) if number % 3 else foreign.body(chance, {"vault": {"language": "en"}})
        file.write_bytes(sent)
        try:
            with suppress(ConfigError):
                load_settings(vault, environ=environ)
        except Exception as error:  # noqa: BLE001 - as above
            found.fail(f"{sent[:200]!r}: {type(error).__name__}: {error}")
        file.write_text("vault:\n  language: zh\n")
        found.items, found.good = found.items + 1, found.good + 1
        found.read += load_settings(vault, environ=environ).settings.vault.language == "zh"
        file.unlink()
    return found


DOORS: Mapping[str, Callable[[int, Path], Passed]] = {
    "mail": through_mail,
    "messages": through_messages,
    "webhook": through_webhook,
    "archive": through_archive,
    "settings": through_settings,
}


def _most_memory() -> int:
    """The most megabytes that this process has had; what `getrusage` says begins with those of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) // 1024


def main(door: str, count: int) -> None:
    """Put so many items through a door, and print what happened as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    with TemporaryDirectory() as folder:
        found = DOORS[door](count, Path(folder))
    found.megabytes = _most_memory()
    sys.stdout.write(json.dumps(asdict(found)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
