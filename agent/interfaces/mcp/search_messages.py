"""What a server asks the process that holds its index, and what it is told if that fails."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A search for passages of notes, or for `memories` of the person of a program (`channel`, `run`)."""

    text: str
    limit: int
    memories: bool = False
    channel: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question has no answer, and what to do."""

    message: str
    hint: str = ""
