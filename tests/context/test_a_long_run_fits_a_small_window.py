"""The whole of it: a run of many steps through a small window, with room made whenever there is too little."""

from datetime import UTC, datetime

import pytest

from agent.context.anchor import Anchor, Failure
from agent.context.assemble import assemble, opening
from agent.context.budget import Count, Window, count_message, count_tool, counter, estimate, shorten
from agent.context.compaction import compact, needs_compaction, room_for_history
from agent.context.source import Piece
from agent.index.embedder import load_wordllama
from agent.llm.messages import Assistant, Context, Message, ToolCall, ToolResult, User
from tests.context.talk import FakeSource, tool

NOW = datetime(2026, 11, 21, 14, 12, tzinfo=UTC)
SYSTEM = "You live in a vault. " * 20
TASK = "Go through all notes about 绿茶 and write what they say about water. Never touch the daily notes."


@pytest.mark.parametrize("tokens", [8_192, 16_384, 32_768])
@pytest.mark.parametrize("count", [estimate, counter(load_wordllama())], ids=["estimate", "tokenizer"])
def test_forty_steps_fit_and_the_task_is_in_sight_in_each(tokens: int, count: Count) -> None:
    window = Window(tokens, 1_024)
    tools = [tool(f"vault_{number}", "Reads a note, or some of its lines. " * 3) for number in range(7)]
    memories = FakeSource("memories", [Piece(f"Memory {n}. " + "Water at 70 degrees. " * 9, "m", n) for n in range(40)])
    history: list[Message] = [*opening(TASK, [memories], [], window, count).messages, User(TASK)]
    before, rounds = None, 0
    for number in range(40):
        anchor = Anchor(TASK, ("vault_read",) * number, f"step {number}", errors=(Failure("vault_edit", "no"),))
        if needs_compaction(SYSTEM, history, tools, window, count):
            room = room_for_history(SYSTEM, tools, window, count)
            compacted = compact(history, 5, None, NOW, room=room, count=count)
            assert compacted is not None
            assert "Never touch the daily notes" in compacted.summary.text
            history = [compacted.summary, *compacted.remaining]
            before, rounds = None, rounds + 1
        if not any(TASK in each.text for each in history):
            history.append(anchor.message(window, count))
        request = assemble(SYSTEM, history, tools, window, count).request
        used = sum(count_message(each, count) for each in request.messages) + sum(
            count_tool(each, count) for each in tools
        )
        assert used <= window.budget + 4
        assert request.tools == tuple(tools)
        assert any("about water" in each.text for each in request.messages[1:] if isinstance(each, User | Context))
        if before is not None:
            assert request.messages[: before.stable] == before.messages[: before.stable]
        before = request
        calls = tuple(
            ToolCall(f"{number}-{each}", "vault_read", {"path": f"{each}.md"}) for each in range(number % 4 + 1)
        )
        history.append(Assistant("I read on.", calls))
        for call in calls:
            text = f"{call.id} 泡茶的水温是七十度。 Steep it for a minute.\n" * 200
            history.append(ToolResult(call.id, call.name, shorten(text, window.result_room(len(calls)), count)))
    assert rounds >= 1
