"""A tool of the node host: what it is called with, what it needs on this machine, and the function that does it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from agent.dataclass import dataclass
from agent.interfaces.node.folders import Folders
from agent.interfaces.node.programs import PackagedProgram, Runner
from agent.llm.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Made:
    """A file that a call has made on the host's machine."""

    path: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True)
class NodeResult:
    """The result of a call: text for a model and for people, and the files that were made."""

    output: str
    files: tuple[Made, ...] = ()


@dataclass(frozen=True, slots=True)
class Desk:
    """The machine as tools see it: programs, the named folders, and `captures`, where pictures and recordings go."""

    runner: Runner
    folders: Folders
    captures: Path


Work: TypeAlias = Callable[[JsonObject, Desk], NodeResult]
"""Does what a call asks for, with arguments that fit the schema; raises `Failure`."""


@dataclass(frozen=True, slots=True)
class NodeTool:
    """A tool. `programs` gives those of which one is needed in this session (none: the host does it by itself);
    `permission` is the one that the system may refuse."""

    name: str
    description: str
    parameters: JsonObject
    work: Work
    programs: Callable[[], Sequence[PackagedProgram]] = lambda: ()
    permission: str = ""
