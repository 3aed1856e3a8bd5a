"""What was done and said in a run, as the caller reads it from the session's note."""

from agent.dataclass import dataclass
from agent.memory.capture.facts import Utterance


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool: its subject in a few words, and True if it failed."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunTrace:
    """The steps of a run, and what its person said in it and before, from its session note.

    `untrusted`: the sources of untrusted text that the model has read. `is_whole`: false if the note could not be read,
    so that the steps are unknown. `task_type` is the kind of task that a skill has recognised, empty if none has.
    """

    steps: tuple[ToolUse, ...] = ()
    untrusted: tuple[str, ...] = ()
    is_whole: bool = True
    said: tuple[Utterance, ...] = ()
    task_type: str = ""
