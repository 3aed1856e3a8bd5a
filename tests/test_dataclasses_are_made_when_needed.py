"""A class with slots is what the standard library makes of it, whenever that happens."""

import contextlib
import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar, field, fields, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pytest

from agent.dataclass import dataclass

KINDS = (dataclass, dataclasses.dataclass)
T = TypeVar("T")


class Named(Protocol):
    """Something with a title."""

    @property
    def title(self) -> str: ...


def classes(dataclass: Callable[..., Any]) -> list[tuple[type, tuple[object, ...]]]:
    """Classes of many kinds, each with arguments for an instance."""

    @dataclass(frozen=True, slots=True)
    class Plain:
        """A value."""

        a: int
        b: str = "b"

    @dataclass(frozen=True, slots=True)
    class Made(Named):
        a: list[int] = field(default_factory=list)
        b: dict[str, int] = field(default_factory=dict, compare=False)
        c: int = field(default=3, repr=False, kw_only=True)

        @property
        def title(self) -> str:
            return f"{self.a}"

    @dataclass(frozen=True, slots=True)
    class Below(Plain):
        c: float = 1.0

    @dataclass(frozen=True, slots=True)
    class Other(Below):
        b: str = "other"
        c: float = field(default_factory=float)

    @dataclass(slots=True)
    class State(Generic[T]):
        a: T
        b: int = 0
        c: list[int] = field(default_factory=list, init=False)

        def __post_init__(self) -> None:
            self.b += 1

    @dataclass(slots=True, eq=False)
    class Own:
        a: int = 1

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        a: int
        b: int = 2

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    @dataclass(slots=True)
    class WithStart:
        a: int

        def __init__(self) -> None:
            self.a = 7

    @dataclass(slots=True)
    class Special:
        a: int
        _: KW_ONLY
        b: InitVar[int] = 2
        c: list[int] = field(default_factory=list)
        d: int = field(init=False)
        shared: ClassVar[int] = 5

        def __post_init__(self, b: int) -> None:
            self.d = b

    return [
        (Special, (1,)),
        (Plain, (1,)),
        (Made, ([1],)),
        (Below, (1, "x")),
        (Other, (1,)),
        (State, ("s",)),
        (Own, ()),
        (Ordered, (1,)),
        (Nothing, ()),
        (WithStart, ()),
    ]


PAIRS = [
    pytest.param(ours, theirs, arguments, id=ours.__name__)
    for (ours, arguments), (theirs, _) in zip(classes(dataclass), classes(dataclasses.dataclass), strict=True)
]


@pytest.mark.parametrize(("ours", "theirs", "arguments"), PAIRS)
def test_it_is_what_the_library_makes(ours: Any, theirs: Any, arguments: tuple[object, ...]) -> None:
    one, other = ours(*arguments), theirs(*arguments)
    assert repr(one) == repr(other)
    assert [(each.name, each.default, each.init) for each in fields(one)] == [
        (each.name, each.default, each.init) for each in fields(other)
    ]
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__ and hasattr(one, "__dict__") == hasattr(other, "__dict__")
    assert (one == ours(*arguments)) == (other == theirs(*arguments))
    assert (one != ours(*arguments)) == (other != theirs(*arguments)) and (one == other) is False
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert set(vars(ours)) - {"__getstate__", "__setstate__"} == set(vars(theirs)) - {"__getstate__", "__setstate__"}
    for name in ours.__slots__:
        results = []
        for each in (one, other):
            try:
                setattr(each, name, 9)
                results.append("set")
            except FrozenInstanceError:
                results.append("frozen")
        assert results[0] == results[1]
    assert repr(copy.copy(one)) == repr(copy.copy(other))


@dataclass(frozen=True, slots=True)
class Read:
    a: int
    b: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Asked:
    a: int


@dataclass(frozen=True, slots=True)
class Untouched:
    a: int


@dataclass(frozen=True, slots=True)
class Often:
    a: int
    b: list[int] = field(default_factory=list, compare=False)


class Plainly(Asked):
    """No dataclass itself."""

    __slots__ = ()

    def __init__(self, a: int) -> None:
        super().__init__(a + 1)


def promised(cls: type) -> bool:
    """True if nothing of the class but its slots was made."""
    return type(vars(cls)["__dataclass_fields__"]) is not dict


def test_nothing_is_made_before_it_is_needed() -> None:
    assert promised(Untouched)
    one, other = Untouched(1), Untouched(a=1)
    assert (one.a, other.a) == (1, 1) and promised(Untouched)
    assert one == other and not promised(Untouched)


@dataclass(frozen=True, slots=True)
class Matched:
    a: int
    c: list[int] = field(default_factory=list, init=False)


def test_a_match_by_position_and_a_default_make_nothing() -> None:
    match Matched(3):
        case Matched(a):
            assert a == 3 and promised(Matched)
    assert Matched.__match_args__ == ("a",)

    @dataclass(frozen=True, slots=True)
    class Inner:
        a: int = 1

    @dataclass(frozen=True, slots=True)
    class Outer:
        inner: Inner = Inner()

    assert Outer().inner.a == 1 and promised(Inner) and promised(Outer)


def test_what_is_made_often_has_the_methods_of_the_library() -> None:
    made = [Often(number) for number in range(200)]
    assert not promised(Often) and [each.a for each in made] == list(range(200))
    assert made[0] == Often(0) != made[199] and len({*made, Often(7)}) == 200 and made[0].b is not made[1].b


CALLS: list[tuple[tuple[object, ...], dict[str, object]]] = [
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3, 4, 5), {}),
    ((), {"a": 1}),
    ((1,), {"a": 2}),
    ((1,), {"b": [2], "c": 3}),
    ((1,), {"other": 2}),
]


@pytest.mark.parametrize(("args", "named"), CALLS, ids=str)
def test_the_first_instance_takes_what_the_library_takes(args: tuple[object, ...], named: dict[str, object]) -> None:
    for (ours, _), (theirs, _) in zip(classes(dataclass), classes(dataclasses.dataclass), strict=True):
        results = []
        for cls in (ours, theirs):
            try:
                results.append(repr(cls(*args, **named)))
            except TypeError as error:
                results.append(str(error))
        assert results[0] == results[1]


@pytest.mark.parametrize("name", ["a", "other"])
def test_the_first_instance_is_frozen(name: str) -> None:
    for cls, wanted in ((ours, theirs) for (ours, _), (theirs, _) in zip(*map(classes, KINDS), strict=True)):
        results = []
        for each in (cls, wanted):
            with contextlib.suppress(TypeError):
                one = each(1) if each.__name__ != "Nothing" else each()
                for change in (lambda one: setattr(one, name, 2), lambda one: delattr(one, name), hash):
                    try:
                        change(one)
                        results.append("done")
                    except (AttributeError, TypeError) as error:
                        results.append(type(error).__name__)
        assert results[: len(results) // 2] == results[len(results) // 2 :], cls


def test_a_default_that_all_would_share_is_refused() -> None:
    @dataclass(slots=True)
    class Shared:
        a: list[int] = []

    with pytest.raises(ValueError, match="mutable default"):
        Shared()


def test_a_class_below_can_be_made_first_and_begin_in_its_own_way() -> None:
    assert promised(Asked)
    assert Plainly(1).a == 2 and Plainly(1) == Plainly(1)
    assert not promised(Asked) and repr(Plainly(1)) == "Plainly(a=2)"


@pytest.mark.parametrize("value", [Read(1, (2,)), Empty()], ids=["a value", "nothing in it"])
def test_a_value_that_was_never_made_here_is_whole_from_a_pickle(value: object) -> None:
    data = pickle.dumps(value)

    def fresh() -> type:
        @dataclass(frozen=True, slots=True)
        class Read:
            a: int
            b: tuple[int, ...] = ()

        @dataclass(frozen=True, slots=True)
        class Empty:
            pass

        return {"Read": Read, "Empty": Empty}[type(value).__name__]

    cls = fresh()
    assert promised(cls)
    made: object = object.__new__(cls)
    made.__setstate__(value.__getstate__())  # type: ignore[attr-defined]
    assert repr(made).endswith(repr(value)) and not promised(cls)
    assert pickle.loads(data) == value == copy.deepcopy(value)


def test_what_looks_at_the_fields_first_sees_them() -> None:
    @dataclass(frozen=True, slots=True)
    class Looked:
        a: int
        b: int = 2

    assert dataclasses.is_dataclass(Looked)
    assert [each.name for each in fields(Looked)] == ["a", "b"]
    assert replace(Looked(1), b=3) == Looked(1, 3)
    match Looked(1):
        case Looked(a, b):
            assert (a, b) == (1, 2)


def test_threads_that_make_the_first_ones_at_once_make_one_class() -> None:
    for _ in range(50):

        @dataclass(frozen=True, slots=True)
        class Shared:
            a: int
            b: int = 2

        start, made = threading.Barrier(4), list[object]()

        def make(cls: type = Shared, start: threading.Barrier = start, made: list[object] = made) -> None:
            start.wait()
            made.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert made == [Shared(1)] * 4
