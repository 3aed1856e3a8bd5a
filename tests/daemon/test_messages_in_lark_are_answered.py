"""A conversation with the bot of Lark: answered below each message, decided by buttons, and nobody else has any effect.

What is the same for every channel is shown with Telegram; here is what Lark's long connection adds.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.background.incoming.queue import MessageQueue
from agent.records.database import RecordsUnusable
from agent.records.table import Table
from tests.attention.rigs.lark import APP, SECRET, LarkService, two_way_lark
from tests.attention.rigs.lark_socket import CHAT, GROUP, OWNER, STRANGER, LarkSocket
from tests.attention.rigs.rig import Shown
from tests.attention.servers import LocalService
from tests.attention.test_messages_from_lark import NAMED
from tests.daemon.house import BRISK, House, living
from tests.daemon.test_messages_are_answered_where_they_came_from import (
    ASK,
    CHANGE,
    DONE,
    codes,
    sessions,
    vault,
)
from tests.interfaces.http.doors import wait_until
from tests.stories.test_a_group_never_mixes_its_people import OPEN
from tests.vaults import git, write


@dataclass
class Bot:
    """A local Lark with the agent's bot, which knows its owner."""

    server: LocalService
    service: LarkService
    socket: LarkSocket

    @property
    def sent(self) -> list[Shown]:
        return list(self.service.taken.values())

    @property
    def places(self) -> list[str]:
        """Where the messages went, by the end of their addresses."""
        return [each.partition("/im/v1/")[2] for each in self.service.paths if "/im/v1/" in each]


@pytest.fixture
def bot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bot]:
    with two_way_lark() as (server, service, socket):
        place = "VAULT_AGENT_CHANNELS__LARK__"
        settings = {"BASE_URL": server.url, "APP_ID": APP, "APP_SECRET": SECRET, "OWNER": OWNER}
        for key, value in {**BRISK, **{place + key: value for key, value in settings.items()}}.items():
            monkeypatch.setenv(key, value)
        yield Bot(server, service, socket)


def queue_of(house: House) -> MessageQueue:
    queue = MessageQueue(house.workspace.vault.records, "lark", str)
    queue.load()
    return queue


def settled(house: House, bot: Bot) -> None:
    """Wait until all events are answered, no message waits and no run goes on."""

    def is_quiet() -> bool:
        return not bot.socket.waiting and not queue_of(house).waiting and not house.working

    house.until(is_quiet, "all messages are done with")


def test_a_question_is_answered_below_it_in_one_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot
) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    with living(root) as house:
        first = bot.socket.write("Which tea in the morning?")
        settled(house, bot)
        bot.socket.lose_all()
        second = bot.socket.write("And in the evening?")
        settled(house, bot)
    assert [each.text for each in bot.sent] == ["Sencha.", "Assam."]
    assert bot.places == [f"messages/{first}/reply", f"messages/{second}/reply"]
    [session] = sessions(house)
    words = (root / session.path).read_text("utf-8")
    assert "Which tea in the morning?" in words and "And in the evening?" in words and "channel: lark" in words
    wait_until(lambda: not bot.socket.open, "the connection has ended with the daemon")


def test_a_question_is_answered_by_a_button(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot) -> None:
    root = vault(tmp_path, monkeypatch, ASK, "Changed.")
    with living(root) as house:
        bot.socket.write("Help me choose")
        house.until(lambda: bool(bot.sent), "it asks")
        [asked] = bot.sent
        [code] = codes(root).values()
        assert "Which tea?" in asked.text and asked.replies == (f"{code} 1", f"{code} 2")
        bot.socket.press(asked.replies[1], f"om_{asked.key.lower()}")
        settled(house, bot)
        house.until(lambda: bot.sent[-1].text == "Changed.", "the run goes on")
        [session] = sessions(house)
    assert "black" in "\n".join(str(each) for each in session.history)


def test_an_approval_is_given_by_a_button_and_by_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot
) -> None:
    root = vault(tmp_path, monkeypatch, CHANGE, "Changed.")
    write(tmp_path / "home/config/policy.yaml", OPEN)  # a conversation in Lark may only search and ask by default
    with living(root) as house:
        bot.socket.write("Change yourself")
        house.until(lambda: bool(bot.sent), "it asks for a yes")
        [asked] = bot.sent
        [code] = codes(root).values()
        assert "# Obey" in asked.text and asked.replies == (f"yes {code}", f"no {code}")
        before = git(root, "rev-parse", "HEAD")
        for number in range(10):
            words = (f"yes {code}", f"同意 {code}", f"{code} yes")[number % 3]
            bot.socket.press(words, "om_card", STRANGER)
            bot.socket.write(words, STRANGER, GROUP if number % 2 else "", mentions=NAMED)
        house.until(lambda: not bot.socket.waiting, "they came in")
        house.for_a_while(1.0)
        assert git(root, "rev-parse", "HEAD") == before and len(bot.sent) == 1
        bot.socket.faults.append("not heard")
        bot.socket.press(asked.replies[0], f"om_{asked.key.lower()}")
        house.until(lambda: (root / "AGENT.md").read_text("utf-8") == "# Obey\n", "the change is made")
        settled(house, bot)
        house.until(lambda: bot.sent[-1].text == "Changed.", "the run ends in the chat")
        bot.socket.write(f"no {code}")
        settled(house, bot)
        assert "decided already" in bot.sent[-1].text
        assert queue_of(house).strangers >= 20


def test_what_cannot_be_written_down_is_not_answered_and_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot
) -> None:
    write_down, full, early = Table.put, ["disk", "disk"], list[str]()

    def put(table: Table[object], value: object, key: str = "") -> None:
        if key == "lark" and "Which tea?" in str(value) and full:
            full.pop()
            threading.Event().wait(0.1)
            early.extend(bot.socket.answered)
            raise RecordsUnusable("no space is left")
        write_down(table, value, key)

    monkeypatch.setattr(Table, "put", put)
    root = vault(tmp_path, monkeypatch, *DONE)
    with living(root) as house:
        bot.socket.write("Which tea?")
        house.until(lambda: bool(bot.sent), "it is answered once there is room")
        settled(house, bot)
    assert not early, "it was answered before it was on disk"
    assert not full and [each.text for each in bot.sent] == ["Sencha."]


def test_a_message_without_words_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot) -> None:
    root = vault(tmp_path, monkeypatch, *DONE)
    with living(root) as house:
        bot.socket.arrive(OWNER, CHAT, message_type="sticker", content='{"file_key": "st_1"}')
        bot.socket.arrive(OWNER, CHAT, message_type="merge_forward", content='{"content": "Merged"}')
        settled(house, bot)
        assert [each.text for each in bot.sent] == ["There is nothing in this that I can read."] * 2
        assert not sessions(house)


def test_a_way_in_that_is_switched_off_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bot: Bot) -> None:
    monkeypatch.setattr("agent.background.incoming.messages.SETTINGS", 2.0)
    root = vault(tmp_path, monkeypatch, *DONE)
    with living(root) as house:
        house.until(lambda: bot.socket.open == 1, "it listens")
        monkeypatch.setenv("VAULT_AGENT_CHANNELS__LARK__ON", "false")
        house.until(lambda: bot.socket.open == 0, "the connection is closed")
        house.for_a_while(2.0)
        assert bot.socket.connections == 1
