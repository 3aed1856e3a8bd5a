"""Requests: what stands where, what stays the same from step to step, what gives way when there is too little room."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context.assemble import LEAST_TOOLS, assemble, in_order, injected_messages, opening, size
from agent.context.budget import MESSAGE, SHARES, BudgetRow, Window
from agent.context.source import Piece, Receipt
from agent.errors import LimitReached, Permanent
from agent.events.bus import Injection
from agent.interfaces.cli.context import format_budget
from agent.llm.messages import Assistant, Context, Message, System, ToolCall, ToolResult, User
from tests.context.talk import FakeSource, by_fours, step, talk, talks, tool

WINDOW = Window(32_768, 4_096)
TOOLS = [tool(f"tool_{number}") for number in range(7)]


def test_the_budget_is_three_quarters_of_the_window_less_the_reserve() -> None:
    assert Window(32_768, 4_096).budget == 24_576 - 4_096
    assert sum(SHARES.values()) == pytest.approx(1)
    assert WINDOW.allowed("memories") == 4_096
    assert Window(1_000, 4_096).allowed("memories") == 0


def test_the_system_comes_first_and_the_history_as_it_is() -> None:
    history = talk(2)
    prompt = assemble("Who you are", history, TOOLS, WINDOW, by_fours)
    assert prompt.request.messages == (System("Who you are"), *history)
    assert prompt.request.stable == len(prompt.request.messages)
    assert prompt.request.tools == tuple(TOOLS)
    assert prompt.request.max_output == 4_096


@given(talks(), st.data())
def test_each_step_begins_with_all_that_the_step_before_began_with(history: list[Message], data: st.DataObject) -> None:
    """The law that provider caches live on: while nothing is compacted, what was sent is only added to."""
    window = Window(1_000_000, 1_000)
    ends = [at for at in range(1, len(history) + 1) if _is_complete(history[:at])]
    before = assemble("system", history[: ends[0]], TOOLS[:3], window, by_fours).request
    for end in ends[1:]:
        more = data.draw(st.integers(len(before.tools), len(TOOLS)))
        after = assemble("system", history[:end], TOOLS[:more], window, by_fours).request
        assert after.messages[: before.stable] == before.messages[: before.stable]
        assert after.tools[: len(before.tools)] == before.tools
        before = after


def _is_complete(history: list[Message]) -> bool:
    """Whether a model may be asked now: something was said, and every call has its result."""
    asked = {call.id for message in history if isinstance(message, Assistant) for call in message.calls}
    given = {message.call for message in history if isinstance(message, ToolResult)}
    return asked == given


@given(talks())
def test_results_stand_right_behind_their_calls_and_nothing_is_lost(history: list[Message]) -> None:
    ordered = in_order(history)
    assert sorted(map(repr, ordered)) == sorted(map(repr, history))
    assert in_order(ordered) == ordered
    for at, message in enumerate(ordered):
        if isinstance(message, Assistant):
            behind = ordered[at + 1 : at + 1 + len(message.calls)]
            assert {each.call for each in behind if isinstance(each, ToolResult)} == {c.id for c in message.calls}


def test_what_a_hook_says_between_two_results_comes_after_both() -> None:
    calls = (ToolCall("a", "x"), ToolCall("b", "x"))
    first, second, hook = ToolResult("a", "x", "1"), ToolResult("b", "x", "2"), Context("mind", "hook")
    assert in_order([Assistant("", calls), first, hook, second]) == (Assistant("", calls), first, second, hook)


def test_tools_give_way_last_and_never_below_three() -> None:
    tools = [tool(f"tool_{number}", "words " * 50) for number in range(7)]
    full = size("s", (), tools, by_fours)
    one = size("s", (), tools, by_fours) - size("s", (), tools[:6], by_fours)

    def with_budget(tokens: int) -> Window:
        return Window(-(-tokens * 4 // 3), 0)

    assert len(assemble("s", (), tools, with_budget(full + 3), by_fours, 100).request.tools) == 7
    fewer = assemble("s", (), tools, with_budget(full - one), by_fours, 100)
    assert fewer.request.tools == tuple(tools[:6])
    assert BudgetRow("tools", one * 6, fewer.rows[-1].allowed, 6, 1) == fewer.rows[-1]
    least = with_budget(full - one * 4)
    assert len(assemble("s", (), tools, least, by_fours, 100).request.tools) == LEAST_TOOLS
    with pytest.raises(LimitReached):
        assemble("s", (), tools, with_budget(full - one * 5), by_fours, 100)


@pytest.mark.parametrize(
    ("system", "history", "window", "words"),
    [
        ("s", [User("word " * 30_000)], WINDOW, "put the text into a note"),
        ("s" * 100_000, [User("hello")], WINDOW, "make AGENT.md shorter"),
        ("s", step(1, 60_000) + step(2, 60_000), WINDOW, "begin a new session"),
        ("s" * 200, [User("hello")], Window(2_048, 1_410), "lower llm.max_output"),
        ("s", [User("hello")], Window(4_096, 4_096), "llm.max_output 512"),
    ],
)
def test_what_cannot_be_cut_and_is_too_much_is_said_with_what_to_do(
    system: str, history: list[Message], window: Window, words: str
) -> None:
    with pytest.raises(LimitReached) as caught:
        assemble(system, history, TOOLS, window, by_fours)
    assert words in caught.value.hint
    assert f"{window.budget if window.budget > 0 else window.tokens:,}" in caught.value.message
    assert caught.value.limit.startswith("llm.")


def test_the_table_says_what_each_part_uses_and_may_use() -> None:
    prompt = assemble("s" * 400, talk(2), TOOLS, WINDOW, by_fours)
    assert [row.name for row in prompt.rows] == ["system", "history", "tools"]
    assert all(row.used > 0 for row in prompt.rows)
    whole = sum(row.used for row in prompt.rows)
    assert whole == size("s" * 400, talk(2), TOOLS, by_fours)
    assert f"{whole:,}" in format_budget(prompt.rows).splitlines()[-1]


def _memory(number: int, score: float, size: int = 400) -> Piece:
    receipt = Receipt(f"notes/{number}.md", (3, 5), "0123456789abcdef", score, "words: tea")
    return Piece(f"memory {number} ".ljust(size, "."), "memory", score, receipt)


def test_a_task_opens_with_what_is_known_of_it_the_best_first() -> None:
    memories = FakeSource("memories", [_memory(1, 0.2), _memory(2, 0.9)])
    wishes = FakeSource("profile", [Piece("Short answers.", "preference")])
    start = opening("tea?", [wishes, memories], [Injection("Mind the cup", "hook")], WINDOW, by_fours)
    assert [message.source for message in start.messages] == ["profile", "memories", "hook"]
    assert start.messages[1].text.index("memory 2") < start.messages[1].text.index("memory 1")
    assert [receipt.path for receipt in start.receipts] == ["notes/2.md", "notes/1.md"]
    assert memories.asked == [("tea?", WINDOW.allowed("memories"))]
    remark = start.remark(start.messages[1])
    assert remark.splitlines()[0] == "- [[notes/2]] lines 3–5 at `0123456789` (0.90, words: tea)"
    assert start.remark(start.messages[0]) == ""


def test_a_skill_may_take_more_than_its_share_and_memories_get_what_it_leaves() -> None:
    skill = Piece("s" * 4 * 900, "skills", 1.5)
    skills, memories = FakeSource("skills", [skill]), FakeSource("memories", [_memory(n, n / 10) for n in range(9)])
    window = Window(8_192, 2_048)
    start = opening("t", [skills, memories], [], window, by_fours)
    assert skills.asked == [("t", 1_024)] and window.allowed("skills") < 250
    assert start.messages[0].text == skill.text, "it is not shortened"
    (room,) = (room for _, room in memories.asked)
    assert room == window.texts_room - 900 - MESSAGE < window.allowed("memories")
    assert len(start.messages[1].text) // 4 <= room
    alone = FakeSource("memories", [])
    opening("t", [FakeSource("skills", []), alone], [], window, by_fours)
    assert alone.asked == [("t", window.allowed("memories"))], "what skills do not need is not taken away"


@given(
    st.lists(st.sampled_from(["skills", "skill_index", "memories", "profile", "other"]), unique=True),
    st.lists(st.integers(1, 3_000), max_size=8),
    st.integers(500, 200_000),
)
def test_the_texts_of_a_task_never_take_more_than_is_theirs_together(
    names: list[str], sizes: list[int], tokens: int
) -> None:
    window = Window(tokens, tokens // 8)
    pieces = [Piece("x" * 4 * size, "any", size) for size in sizes]
    start = opening("t", [FakeSource(name, pieces) for name in names], [], window, by_fours)
    assert sum(row.used for row in start.rows) <= window.texts_room
    assert all(row.used <= row.allowed for row in start.rows)


def test_the_memories_that_fit_worst_are_the_first_to_be_left_out() -> None:
    window = Window(4_000, 500)  # 500 tokens for memories, 104 each
    start = opening("t", [FakeSource("memories", [_memory(n, n / 10) for n in range(9)])], [], window, by_fours)
    assert [receipt.path for receipt in start.receipts] == [f"notes/{n}.md" for n in (8, 7, 6, 5)]
    assert start.rows[0] == BudgetRow("memories", by_fours(start.messages[0].text), 500, 4, 5)
    assert start.rows[0].used <= 500


def test_a_best_match_that_is_too_long_is_shortened_rather_than_left_out() -> None:
    start = opening("t", [FakeSource("memories", [_memory(1, 1, 90_000)])], [], WINDOW, by_fours)
    assert "left out here" in start.messages[0].text
    assert by_fours(start.messages[0].text) <= WINDOW.allowed("memories")


def test_a_source_that_knows_nothing_adds_nothing() -> None:
    start = opening(
        "t", [FakeSource("memories", []), FakeSource("skills", [Piece("  ", "skill")])], [], WINDOW, by_fours
    )
    assert start.messages == ()
    assert [row.included for row in start.rows] == [0, 0, 0]


def test_a_source_can_say_why_it_gives_nothing_and_only_people_read_it() -> None:
    start = opening(
        "thanks!", [FakeSource("memories", [Piece("", "memories", absent="nothing fits")])], [], WINDOW, by_fours
    )
    assert [str(each) for each in start.absent] == ["memories: nothing fits"]
    assert start.messages == () and start.rows[0] == BudgetRow("memories", 0, WINDOW.allowed("memories"), 0, 0)


@pytest.mark.parametrize("error", [Permanent("the index is damaged"), OSError("disk")])
def test_a_source_that_fails_is_named_and_the_others_are_heard(error: Exception) -> None:
    class Broken(FakeSource):
        def pieces(self, task: str, room: int) -> Sequence[Piece]:
            raise error

    sources = [Broken("memories", []), FakeSource("profile", [Piece("Short answers.", "preference")])]
    start = opening("t", sources, [], WINDOW, by_fours)
    assert [message.source for message in start.messages] == ["profile"]
    assert start.problems == (f"memories: {error}",)


def test_text_that_is_not_the_owners_is_named() -> None:
    pieces = [Piece("<untrusted>…", "memory", 1, untrusted="clip.md"), Piece("mine", "memory")]
    assert opening("t", [FakeSource("memories", pieces)], [], WINDOW, by_fours).untrusted == ("clip.md",)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 900)), max_size=8), st.integers(0, 600))
def test_hooks_speak_by_priority_and_within_their_room(said: list[tuple[int, int]], room: int) -> None:
    wanted = [Injection(f"{n}:".ljust(size, "x"), str(n), priority) for n, (priority, size) in enumerate(said)]
    given = [each.message for each in injected_messages(wanted, by_fours, room)]
    assert sum(by_fours(message.text) for message in given) <= room
    priorities = [said[int(message.source)][0] for message in given]
    assert priorities == sorted(priorities, reverse=True)


def test_results_that_came_in_another_order_are_in_the_order_of_their_calls() -> None:
    """As after an approval: the calls beside it had their results before."""
    asked = Assistant("", (ToolCall("a", "x"), ToolCall("b", "x"), ToolCall("c", "x")))
    first, second, third = (ToolResult(call, "x", call) for call in "abc")
    hook = Context("mind", "hook")
    assert in_order([asked, second, hook, third, first, User("?")]) == (asked, first, second, third, hook, User("?"))
