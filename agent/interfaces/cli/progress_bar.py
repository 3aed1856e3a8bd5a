"""A progress bar for work on many files; nothing is drawn for a few, without a terminal, and with `--json`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Protocol, cast

from agent.interfaces.cli.language import tr
from agent.interfaces.cli.output import Output, progress
from agent.interfaces.cli.printing import can_draw

FEW = 20
"""The number of files from which on a bar is drawn."""


class _Bar(Protocol):
    def move(self, done: int, of: int) -> None: ...

    def stop(self) -> None: ...


@contextmanager
def progress_bar(output: Output, words: str) -> Iterator[Callable[[int, int], None]]:
    """A function, inside the block, that shows how many are done of how many, beside the words."""
    drawn: list[_Bar] = []

    def move(done: int, of: int) -> None:
        if of < FEW or output.json or not can_draw():
            return
        if not drawn:
            module = import_module("agent.interfaces.cli.terminal.live")  # rich is slow to load
            drawn.append(cast(_Bar, module.Bar(words)))
        drawn[0].move(done, of)
        if done >= of:  # a daemon goes on for days behind it
            drawn.pop().stop()

    try:
        yield move
    finally:
        for each in drawn:
            each.stop()


@contextmanager
def indexing(output: Output, text: str) -> Iterator[Callable[[int, int], None]]:
    """Say that notes are indexed, with a bar where one can be drawn; as `catch_up` wants it."""
    if output.json or not can_draw():
        progress(text)
    with progress_bar(output, tr(text)) as move:
        yield move
