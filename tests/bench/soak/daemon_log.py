"""The errors in a daemon's log, and whether `status` tells them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = re.compile(r"(WARNING|ERROR|CRITICAL) (\S+): (.*)")
_QUIET = re.compile(r"(DEBUG|INFO) \S+: ")
_WITHOUT_HEAD = re.compile(r"Exception (ignored )?in|Fatal |\S.*Warning: ")
_TRACEBACK = "Traceback "
_LAST_WORDS = 12
"""Characters that the end of a message needs to be looked for by itself."""


@dataclass(slots=True)
class DaemonLog:
    """The file at `path`, read on from where the last look ended. `errors` are messages, with their loggers."""

    path: Path
    errors: list[str] = field(default_factory=list)
    untold: list[str] = field(default_factory=list)
    _offset: int = 0

    def new_errors(self) -> list[str]:
        """The errors since the last look."""
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        found = list(errors_in(whole.decode("utf-8", "replace")))
        self.errors += found
        return found

    def compare(self, new: list[str], status: Mapping[str, object]) -> None:
        """Note which of these errors `status` does not tell: in words, or in the number of what was logged."""
        if number_told(status) >= len(self.errors):
            return
        told = "\n".join(texts_in(status))
        self.untold += [error for error in new if not is_told(error, told)]


def errors_in(text: str) -> Iterator[str]:
    """The messages of warnings and errors, and of what Python writes by itself; their tracebacks are left out."""
    is_inside = False
    for line in text.splitlines():
        if found := _HEAD.match(line):
            is_inside = True
            yield f"{found[2]}: {found[3]}"
        elif _QUIET.match(line):
            is_inside = False
        elif _WITHOUT_HEAD.match(line) or (line.startswith(_TRACEBACK) and not is_inside):
            is_inside = True
            yield line


def number_told(status: Mapping[str, object]) -> int:
    """How many warnings of the last day `status` counts."""
    daemon = status.get("daemon")
    logged = daemon.get("logged") if isinstance(daemon, Mapping) else None
    return int(logged.get("count") or 0) if isinstance(logged, Mapping) else 0


def is_told(error: str, told: str) -> bool:
    """True if the texts of a status hold the message, or its end after a colon."""
    message = error.partition(": ")[2] or error
    ends = [message]
    while ": " in ends[-1]:
        ends.append(ends[-1].partition(": ")[2])
    return any(end in told for end in ends if end is message or len(end) >= _LAST_WORDS)


def texts_in(document: object) -> Iterator[str]:
    """All texts in a document, however deep."""
    match document:
        case str():
            yield document
        case Mapping():
            for each in document.values():
                yield from texts_in(each)
        case list() | tuple():
            for each in document:
                yield from texts_in(each)
        case _:
            return
