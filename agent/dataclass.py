"""The standard library's `dataclass`, but the methods of a class with slots are made when they are really needed.

The library writes and compiles up to six methods for each class as its module is loaded, 0.3 to 0.6 ms. A command loads
up to 230 such classes, and makes a few instances of 80 of them: that was a third of the processor time of `vault-agent
status`.

What comes out is what the library makes, by the library itself. Only the slots are made at once, since they belong to
the class's layout, and the names for a match by position. The first instances of a class are filled in here, unless it
inherits fields or is special in another way. With a further instance, a comparison, or a look at the fields, the
library makes all that is missing.
"""

import dataclasses
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, get_origin

_FEW = 100
"""Fewer instances than the 160 after which the library's methods have saved the time that it takes to make them."""
_LOOKED_AT = ("__init__", "__match_args__", "__dataclass_fields__")
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


class _Start(_Promise):
    """Stands for `__init__`, and fills in the first instances; `written` is what stands in the class."""

    def __init__(self, cls: type, make: Callable[[], None], written: Mapping[str, object]) -> None:
        super().__init__(cls, "__init__", make)
        self._written, self._left = written, _FEW
        self._fields: Mapping[str, dataclasses.Field[object]] | None = None

    def __get__(self, instance: object, owner: type | None = None) -> object:
        if instance is None or self._left <= 0:
            return super().__get__(instance, owner)
        self._left -= 1
        return partial(self._fill, instance)

    def _fill(self, instance: object, /, *args: object, **named: object) -> None:
        if self._fields is None:
            self._fields = _plain_fields(self._written)
        values = None if self._fields is None else _values(self._fields, args, named)
        if values is None:
            self._left = 0
            library: Callable[..., None] = super().__get__(instance)  # type: ignore[assignment]
            library(*args, **named)
            return
        for name, value in values:
            object.__setattr__(instance, name, value)
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _plain_fields(written: Mapping[str, Any]) -> Mapping[str, dataclasses.Field[Any]] | None:
    """The fields by name, in the order of the arguments; None if one is of a kind that only the library takes."""
    found = {}
    for name in written.get("__annotations__", ()):
        default = written.get(name, dataclasses.MISSING)
        each = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        if each.kw_only is True or _has_no_hash(type(each.default)):
            return None
        found[name] = each
    return found


def _has_no_hash(cls: type) -> bool:
    """True for a class whose instances the library refuses as defaults; a class with promises stays as it is."""
    return next(vars(each)["__hash__"] for each in cls.__mro__ if "__hash__" in vars(each)) is None


def _positions(cls: type) -> tuple[str, ...]:
    """The names of the fields that are arguments by position, of a class that inherits none."""
    found = ((name, cls.__dict__.get(name)) for name in cls.__dict__.get("__annotations__", ()))
    return tuple(
        name
        for name, each in found
        if not isinstance(each, dataclasses.Field) or (each.init and each.kw_only is not True)
    )


def _is_special(kind: object) -> bool:
    """True for an annotation that makes no field, or changes the ones after it."""
    if type(kind) is type:
        return False
    if isinstance(kind, str):
        return "Var" in kind or "KW_ONLY" in kind
    return isinstance(kind, dataclasses.InitVar) or ClassVar in (kind, get_origin(kind)) or kind is dataclasses.KW_ONLY


def _values(
    fields: Mapping[str, dataclasses.Field[Any]], args: Sequence[object], named: Mapping[str, object]
) -> Sequence[tuple[str, object]] | None:
    """The value of each field; None if the arguments do not fit them."""
    positions = [name for name, each in fields.items() if each.init]
    values = {**dict(zip(positions, args, strict=False)), **named}
    if len(values) != len(args) + len(named) or not values.keys() <= set(positions):
        return None
    found = list[tuple[str, object]]()
    for name, each in fields.items():
        if name in values:
            found.append((name, values[name]))
        elif each.default is not dataclasses.MISSING:
            found.append((name, each.default))
        elif each.default_factory is not dataclasses.MISSING:
            found.append((name, each.default_factory()))
        elif each.init:
            return None
    return found


def _methods(cls: type, options: Mapping[str, bool]) -> tuple[str, ...]:
    """The methods of instances that the library makes beside `__init__`; none if it has to be there from the first."""
    if not options.keys() <= {"frozen", "eq"} or any("__dataclass_fields__" in each.__dict__ for each in cls.__mro__):
        return ()
    compared = ("__eq__",) if options.get("eq", True) else ()
    frozen = ("__setattr__", "__delattr__", *(("__hash__",) if compared else ())) if options.get("frozen") else ()
    return ("__repr__", *compared, *frozen)


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
    if options.get("eq", True) and not options.get("frozen"):
        content.setdefault("__hash__", None)
    later = [name for name in _methods(cls, options) if name not in content]
    if later:
        content.setdefault("__match_args__", _positions(cls))
    promised = type(cls)(cls.__name__, cls.__bases__, content)
    promised.__qualname__ = cls.__qualname__

    def make() -> None:
        library = dataclasses.dataclass(slots=True, **options)
        made: Mapping[str, object] = library(cls).__dict__
        new = made.keys() - content.keys() - {*names, "__dict__", "__weakref__"} | made.keys() & {"__hash__"}
        for name in sorted(new, key=_LOOKED_AT.__contains__):  # what lets other threads in comes last
            setattr(promised, name, made[name])
        promised.__doc__ = str(made["__doc__"])

    for name in (*_LOOKED_AT, *later):
        if name not in content:
            setattr(promised, name, _Promise(promised, name, make))
    if later:
        promised.__init__ = _Start(promised, make, dict(cls.__dict__))  # type: ignore[misc]
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
            kinds = cls.__dict__.get("__annotations__", {}).values()
            if not slots or "__init__" in cls.__dict__ or any(map(_is_special, kinds)) or sys.version_info >= (3, 14):
                return dataclasses.dataclass(slots=slots, **options)(cls)
            return _promised(cls, options)

        return wrap if cls is None else wrap(cls)
