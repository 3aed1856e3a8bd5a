"""One section of the settings, made from its values when it is first asked for.

A command needs a few sections. The modules of the others, with half a hundred dataclasses together, are not loaded for
it.
"""

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast, overload

from agent.config.values import build

if TYPE_CHECKING:
    from agent.config.settings import Settings

T_co = TypeVar("T_co", covariant=True)


class LazySection(Generic[T_co]):
    """An attribute of `Settings` with the section of its name; `place` is the full name of the section's dataclass."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @cached_property
    def dataclass(self) -> Callable[..., T_co]:
        """The dataclass, imported."""
        module, _, name = self._place.rpartition(".")
        return cast("Callable[..., T_co]", getattr(import_module(module), name))

    @overload
    def __get__(self, settings: None, owner: object = None) -> Self: ...

    @overload
    def __get__(self, settings: "Settings", owner: object = None) -> T_co: ...

    def __get__(self, settings: "Settings | None", owner: object = None) -> Self | T_co:
        if settings is None:
            return self
        made = build(self.dataclass, settings.values, f"{self._name}.")
        vars(settings)[self._name] = made  # found there before this method from now on
        return made
