"""The program's own modules, read and parsed once for all tests of a process that look at the code."""

import ast
import gc
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "agent"


@dataclass(frozen=True, slots=True)
class Source:
    """One module: its path below `PACKAGE`, its text, and what is in it, in the order of `ast.walk`, itself first."""

    path: str
    text: str
    nodes: tuple[ast.AST, ...]

    @property
    def tree(self) -> ast.Module:
        tree = self.nodes[0]
        assert isinstance(tree, ast.Module)
        return tree


@cache
def sources() -> tuple[Source, ...]:
    """All modules of the program, sorted by path. Nothing of a million nodes is ever garbage: looking for it, then and
    whenever later tests collect theirs, takes longer than parsing."""
    gc.disable()
    try:
        return tuple(parsed(path, PACKAGE) for path in sorted(PACKAGE.rglob("*.py")))
    finally:
        gc.freeze()
        gc.enable()


def parsed(path: Path, below: Path) -> Source:
    """The module at `path`, named by its path below a folder."""
    text = path.read_text("utf-8")
    return Source(path.relative_to(below).as_posix(), text, tuple(ast.walk(ast.parse(text))))
