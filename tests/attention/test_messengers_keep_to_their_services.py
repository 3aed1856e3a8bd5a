"""What only one of the messengers has: tokens that end, answers below a message, signs with a meaning of their own."""

from agent.attention.channels.channel import Message
from agent.attention.channels.hooks import without_markdown
from agent.llm.messages import never
from tests.attention.rigs.lark import LarkRig, lark_rig
from tests.attention.rigs.telegram import OWNER, channel_of, telegram


def test_lark_renews_a_token_that_does_not_count_any_more() -> None:
    with lark_rig() as rig:
        assert isinstance(rig, LarkRig)
        rig.channel.send(Message("1", "One"), never)
        rig.service.token = 2
        assert rig.channel.send(Message("2", "Two"), never)
        assert [each.text for each in rig.shown()] == ["One", "Two"]


def test_lark_answers_below_a_message() -> None:
    with lark_rig() as rig:
        assert isinstance(rig, LarkRig)
        rig.channel.send(Message("1", "", "Green.", to="oc_1", answers="om_9"), never)
        assert rig.service.paths == ["/open-apis/im/v1/messages/om_9/reply"]


def test_signs_of_markdown_lose_their_meaning() -> None:
    assert without_markdown("**a** [b](https://c-d.e)\n# f\n- g\n1. h") == (
        "\\*\\*a\\*\\* \\[b\\](https://c-d.e)\n\\# f\n\\- g\n\u200b1. h"
    )
    assert "@everyone" not in without_markdown("hello @everyone")


def test_telegram_begins_where_it_was_told_and_gives_nothing_twice() -> None:
    with telegram() as (server, service):
        channel = channel_of(server)
        service.write("before")
        position = channel.receive("", never).position
        service.write("first")
        service.press("yes 7K2")
        received = channel.receive(position, never)
        assert [(each.text, each.sender) for each in received.messages] == [
            ("first", str(OWNER)),
            ("yes 7K2", str(OWNER)),
        ]
        assert channel.receive(position, never).messages == received.messages
        assert not channel.receive(received.position, never).messages and not service.updates
