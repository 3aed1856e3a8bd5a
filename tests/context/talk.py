"""Conversations made up for tests, and sources and counts that stand in for the real ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from agent.context.source import Piece
from agent.llm.messages import Assistant, Context, Message, ToolCall, ToolResult, ToolSpec, User


def by_fours(text: str) -> int:
    """A token for each four characters begun."""
    return -(-len(text) // 4)


@dataclass
class FakeSource:
    """Gives the same pieces for every task, and remembers what it was asked."""

    name: str
    given: Sequence[Piece]
    asked: list[tuple[str, int]] = field(default_factory=list)

    def pieces(self, task: str, room: int) -> Sequence[Piece]:
        self.asked.append((task, room))
        return self.given


def tool(name: str, description: str = "Does it.") -> ToolSpec:
    """A tool with one argument."""
    return ToolSpec(name, description, {"type": "object", "properties": {"path": {"type": "string"}}})


def step(number: int, size: int = 40, calls: int = 1, said: str = "Let me look.") -> list[Message]:
    """The model asks for some calls and gets their results, `size` characters each."""
    asked = tuple(ToolCall(f"c{number}-{each}", "vault_read", {"path": f"notes/{number}.md"}) for each in range(calls))
    results = [ToolResult(call.id, call.name, f"{number} ".ljust(size, "x")) for call in asked]
    return [Assistant(said, asked), *results]


def turn(number: int, steps: int = 1, size: int = 40, wish: str = "") -> list[Message]:
    """A question with what was recalled for it, some steps, and an answer."""
    said: list[Message] = [
        Context(f"what is known of {number}", "memories"),
        User(f"Question {number}? {wish}".strip()),
    ]
    for each in range(steps):
        said += step(number * 100 + each, size)
    return [*said, Assistant(f"Answer {number}.")]


def talk(turns: int, steps: int = 1, size: int = 40) -> list[Message]:
    """A conversation of so many turns."""
    return [message for number in range(1, turns + 1) for message in turn(number, steps, size)]


@st.composite
def talks(draw: st.DrawFn, most_turns: int = 8) -> list[Message]:
    """Conversations as a loop records them: hooks' words between results, answers or none at the end."""
    said: list[Message] = []
    number = 0
    for _ in range(draw(st.integers(1, most_turns))):
        if draw(st.booleans()):
            said.append(Context(draw(st.text(max_size=30)), "memories"))
        said.append(User(draw(st.text(min_size=1, max_size=60))))
        for _ in range(draw(st.integers(0, 4))):
            number += 1
            made = step(number, draw(st.integers(2, 400)), draw(st.integers(1, 3)))
            for message in made:
                said.append(message)
                if isinstance(message, ToolResult) and draw(st.integers(0, 3)) == 0:
                    said.append(Context("a hook's word", "hook"))
        if draw(st.booleans()):
            said.append(Assistant(draw(st.text(max_size=40))))
    return said
