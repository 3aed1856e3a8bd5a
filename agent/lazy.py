"""Functions of modules that are loaded when they are first called: most commands only look, and load little."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def later(module: str, name: str) -> Callable[..., Any]:
    """A function that loads its module with its first call. Write it beside an import for type checkers, which says
    what it takes and returns."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return call
