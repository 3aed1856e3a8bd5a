"""Workflow traces: the tools of finished runs, in order. Finding common sequences is left to `sequences`."""

from datetime import datetime

from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One use of a tool; `about` is its subject in a few words, empty if unknown."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowTrace:
    """The steps of one run for one `task`. `path` is that of its session; `seconds` is 0 if unknown."""

    run: str
    task: str
    steps: tuple[TraceStep, ...]
    succeeded: bool = True
    seconds: float = 0.0
    path: str = ""
    created: datetime | None = None

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the successful steps, in order; repeated uses of a tool in a row count once."""
        worked = [step.tool for step in self.steps if not step.failed]
        return tuple(tool for number, tool in enumerate(worked) if number == 0 or tool != worked[number - 1])
