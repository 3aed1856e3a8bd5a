"""The time that a run takes without the model's thinking and git's commits: its beginning, and each step.

A step is measured from the last word of one answer of a scripted model to the first of the next: the answer's record,
the tool's policy and checks, events, the budget, the whole request, and the spend ledger's two lines.
"""

import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from agent.app.agent import build_runs
from agent.benches.figures import Figure, Measure, middle_and_tail
from agent.benches.speed import site
from agent.benches.vaults import build_prose
from agent.errors import Permanent
from agent.events.runs import Speaker
from agent.index.keyword import Engine
from agent.loop.outcome import RunOutcome
from agent.loop.records import RunRequest
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.vault.change import Outcome as Written
from agent.vault.store import Vault
from agent.vault.transaction import Order
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

STEPS = 40
STEP_MS = 30.0
FEWEST = 5
"""Notes that a run needs to read: it is stopped when it reads the same one again and again."""


@dataclass(frozen=True, slots=True)
class Timed(Vault):
    """A vault that adds up the time that its commits take, in seconds."""

    spent: list[float] = field(default_factory=list)

    def carry_out(self, order: Order) -> Written:
        started = time.perf_counter()
        try:
            return Vault.carry_out(self, order)
        finally:
            self.spent.append(time.perf_counter() - started)


def measure(folder: Path, notes: int, engine: Engine, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """The figures of `rounds` runs of `STEPS` steps in a vault of so many notes."""
    say(f"writing and indexing {notes} notes")
    paths = build_prose(folder / "vault", notes)
    place = site(folder / "vault", folder / "home", engine)
    given = place.workspace.vault
    vault = Timed(*(getattr(given, each.name) for each in fields(given)))
    workspace = _scripted(replace(place.workspace, vault=vault), folder / "script.json", paths)
    steps: list[float] = []
    begins: list[float] = []
    commits: list[float] = []
    with closing(open_index(workspace)) as index:
        index.refresh()
        say(f"{rounds} runs of {STEPS} steps")
        with closing(build_runs(workspace, index)) as agent:
            _run(agent, vault)  # what is loaded once is loaded
            for _ in range(rounds):
                vault.spent.clear()
                first, *rest = _run(agent, vault)
                begins.append(first)
                steps += rest
                commits += vault.spent
    return [
        *middle_and_tail(_figure("a step without model and commits", steps), STEP_MS),
        *middle_and_tail(_figure("a run's beginning, memories recalled", begins), None),
        *middle_and_tail(_figure("a commit, for comparison", commits), None),
    ]


def _run(agent: RunService, vault: Timed) -> list[float]:
    """One run: the seconds of its beginning and of each step, without commits."""
    words: list[tuple[float, float]] = []
    started, before = time.perf_counter(), sum(vault.spent)

    def hear(text: str) -> None:
        words.append((time.perf_counter(), sum(vault.spent)))

    ended = agent.ask(RunRequest("keep a log of my walks by the lake", Speaker("cli")), line=RunIO(hear))
    if ended.outcome is not RunOutcome.FINISHED:
        raise Permanent(f"the run did not finish: {ended.reason}")
    agent.capturing.settle()  # what is written behind a run must not count as the next one's commits
    marks = [(started, before), *words]
    return [later[0] - sooner[0] - (later[1] - sooner[1]) for sooner, later in zip(marks, marks[1:], strict=False)]


def _figure(name: str, seconds: list[float]) -> Figure:
    return Figure(name, tuple(1000 * each for each in seconds))


def _scripted(workspace: Workspace, path: Path, paths: list[str]) -> Workspace:
    """The same with a model that reads and writes by turns, a word and a call at a time."""

    def asks(number: int) -> dict[str, object]:
        read = {"tool": "vault_read", "arguments": {"path": paths[number % len(paths)]}}
        note = {"tool": "vault_append", "arguments": {"path": "log.md", "text": f"- walk {number}"}}
        return {"text": "So.", "chunks": ["So."], "calls": [note if number % 2 else read]}

    lines = [*map(asks, range(STEPS - 1)), {"text": "Done.", "chunks": ["Done."]}]
    path.write_text(json.dumps({"replies": lines}), "utf-8")
    settings = workspace.settings
    scripted = replace(settings.llm, wire="scripted", script=str(path))
    return replace(workspace, settings=settings.with_sections(llm=scripted))
