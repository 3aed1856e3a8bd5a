"""Histories of runs made up for tests: workflows planted among runs that have nothing in common."""

import random
from dataclasses import dataclass

from agent.skills.learning.sequences import TraceStep, WorkflowTrace, contains
from agent.skills.learning.suggestion import Suggestion
from agent.skills.learning.written import named_by_person

TOOLS = (
    "search_vault",
    "memory_recall",
    "vault_read",
    "vault_list",
    "vault_write",
    "vault_edit",
    "vault_append",
    "vault_move",
    "memory_save",
    "web_fetch",
    "human_ask",
    "delegate",
)
_SUBJECTS = (
    "sort the {0} invoices by supplier",
    "prepare the {0} rehearsal plan for the choir",
    "check the {0} greenhouse readings",
    "把{0}的报销单汇总成表格",
    "write the {0} letter to parents",
    "核对{0}的库存清单",
)
_TIMES = ("January", "spring", "Monday", "latest", "north", "第一季度", "上海", "二月", "new")
# fmt: off
_NOISE = (
    "lamp", "river", "ticket", "cousin", "paint", "bread", "engine", "letterbox",
    "mountain", "violin", "carpet", "orange", "theatre", "bicycle", "harbour", "candle",
    "pension", "blanket", "museum", "tyre", "garlic", "passport", "whale", "chimney",
    "syrup", "button", "lawyer", "tunnel", "pigeon", "mirror", "harvest", "wallet",
)
# fmt: on


@dataclass(frozen=True)
class History:
    planted: tuple[tuple[str, ...], ...]
    traces: tuple[WorkflowTrace, ...]


def trace(number: int, task: str, tools: tuple[str, ...] | list[str], *, succeeded: bool = True) -> WorkflowTrace:
    """One run that used these tools."""
    steps = tuple(TraceStep(tool) for tool in tools)
    return WorkflowTrace(f"RUN{number:04d}", task, steps, succeeded, 10.0, f"entries/2026/11/run-{number:04d}.md")


def history(seed: int, runs: int = 60) -> History:
    """Sixty runs: six workflows of three to five steps, each four to seven times, with a stray step here and there;
    the rest at random."""
    draw = random.Random(seed)
    planted = _planted(draw)
    made: list[tuple[str, list[str]]] = []
    for tools, subject in zip(planted, _SUBJECTS, strict=True):
        for _ in range(draw.randint(4, 7)):
            steps = [draw.choice(TOOLS) for _ in range(draw.randint(0, 2))]
            for place, tool in enumerate(tools):
                steps.append(tool)
                if place < len(tools) - 1 and draw.random() < 0.15:
                    steps.append(draw.choice(TOOLS))
            steps += [draw.choice(TOOLS) for _ in range(draw.randint(0, 2))]
            made.append((subject.format(draw.choice(_TIMES)), steps))
    while len(made) < runs:
        task = " ".join(draw.sample(_NOISE, 3))
        made.append((task, [draw.choice(TOOLS) for _ in range(draw.randint(2, 8))]))
    draw.shuffle(made)
    return History(planted, tuple(trace(number, task, steps) for number, (task, steps) in enumerate(made)))


def _planted(draw: random.Random) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    while len(found) < 6:
        tools: list[str] = []
        while len(tools) < draw.randint(3, 5):
            tool = draw.choice(TOOLS)
            if not tools or tools[-1] != tool:
                tools.append(tool)
        made = tuple(tools)
        if not any(contains(other, made) or contains(made, other) for other in found):
            found.append(made)
    return tuple(found)


def named(suggestion: Suggestion) -> Suggestion:
    """The suggestion under a name that a person gave it."""
    return named_by_person(suggestion, "usual-work", ())
