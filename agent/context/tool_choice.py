"""Chooses the tools that are described to the model when a conversation begins: the usual ones, if there is room.

What the conversation is about does not matter, and they stay: a list that changes is read anew by the model, with all
that follows it. `tool_search` finds the others. Registering tools and permissions are left to `tools`.
"""

from collections.abc import Sequence

from agent.context.budget import Count, count_tool
from agent.index.analysis import terms
from agent.llm.messages import ToolSpec

TOOL_SEARCH = "tool_search"
"""The tool that finds the others and has them described."""
CORE = frozenset(
    (
        *("search_vault", "vault_read", "vault_write", "vault_edit", "vault_append", "vault_move"),
        *("memory_recall", "memory_save", "human_ask", "skills", TOOL_SEARCH),
    )
)
"""The tools that are described in any window: nearly every task about notes needs some of them."""
_PART = 10
"""All tools are described while they take less than this part of the window, as a divisor."""


def choose_tools(specs: Sequence[ToolSpec], window: int, count: Count) -> tuple[ToolSpec, ...]:
    """The tools to describe with a window of so many tokens, in their order: all if they take less than a tenth of it,
    else those of `CORE`."""
    if sum(count_tool(spec, count) for spec in specs) * _PART < window:
        return tuple(specs)
    return tuple(spec for spec in specs if spec.name in CORE)


def find_tools(purpose: str, specs: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools that share words with a purpose, the best first; a word in a tool's name counts twice."""
    asked = set(terms(purpose))
    names = [asked & set(terms(spec.name.replace("_", " "))) for spec in specs]
    fits = [
        len(name) + len(name | asked & set(terms(spec.description))) for name, spec in zip(names, specs, strict=True)
    ]
    ranked = sorted(zip(fits, specs, strict=True), key=lambda pair: -pair[0])
    return tuple(spec for fit, spec in ranked if fit)
