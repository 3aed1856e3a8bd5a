"""Functions of modules that are loaded, and values that are made, when they are first called: most commands only look,
and load little."""

import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def later(module: str, name: str) -> Callable[..., Any]:
    """A function that loads its module with its first call. Write it beside an import for type checkers, which says
    what it takes and returns."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(module), name)(*args, **kwargs)

    return call


def only_once(make: Callable[[], T]) -> Callable[[], T]:
    """A function that makes a value when it is first called, in one thread, and returns it again each time."""
    lock, made = threading.Lock(), cache(make)

    def one() -> T:
        with lock:
            return made()

    return one
