"""The standard library's `dataclass`, but the methods of a class with slots are made when they are first needed.

The library writes and compiles up to six methods for each class as its module is loaded, 0.3 to 0.6 ms. A command loads
up to 230 such classes and uses a few: that was a third of the processor time of `vault-agent status`.

What comes out is what the library makes, by the library itself. Only the slots are made at once, since they belong to
the class's layout; until its first instance, or a look at its fields, the rest stands as a promise.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

_PROMISED = ("__init__", "__match_args__", "__dataclass_fields__")
"""All through which a class is used first: made, matched by position, copied, read from a pickle, or asked for."""
_making = threading.RLock()


class _Promise:
    """Stands for an attribute that the library makes; a look at it has it make all of them."""

    def __init__(self, cls: type, name: str, make: Callable[[], None]) -> None:
        self._cls, self._name, self._make = cls, name, make

    def __get__(self, instance: object, owner: type | None = None) -> object:
        with _making:
            if self._cls.__dict__[self._name] is self:
                self._make()
        made = self._cls.__dict__[self._name]
        return made.__get__(instance, owner) if hasattr(made, "__get__") else made


def _promised(cls: type, options: Mapping[str, bool]) -> type:
    """The class with its slots, and the promise of the rest."""
    content = dict(cls.__dict__)
    names = tuple(content.get("__annotations__", ()))
    inherited = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    for name in (*names, "__dict__", "__weakref__"):
        content.pop(name, None)
    content["__slots__"] = tuple(name for name in names if name not in inherited)
    content.setdefault("__getstate__", _state)
    content.setdefault("__setstate__", _set_state)
    promised = type(cls)(cls.__name__, cls.__bases__, content)
    promised.__qualname__ = cls.__qualname__

    def make() -> None:
        library = dataclasses.dataclass(slots=True, **options)
        made: Mapping[str, object] = library(cls).__dict__
        new = made.keys() - content.keys() - {*names, "__dict__", "__weakref__"} | made.keys() & {"__hash__"}
        for name in sorted(new, key=_PROMISED.__contains__):  # what lets other threads in comes last
            setattr(promised, name, made[name])
        promised.__doc__ = str(made["__doc__"])

    for name in _PROMISED:
        setattr(promised, name, _Promise(promised, name, make))
    return promised


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]  # type: ignore[arg-type]


def _set_state(self: object, state: list[object]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, each.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, slots=False, **options):
        """See the standard library."""

        def wrap(cls):
            if not slots or "__init__" in cls.__dict__ or sys.version_info >= (3, 14):
                return dataclasses.dataclass(slots=slots, **options)(cls)
            return _promised(cls, options)

        return wrap if cls is None else wrap(cls)
