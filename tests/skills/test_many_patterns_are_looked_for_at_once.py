"""One pass over a task finds the same patterns as looking for each of them by itself, whatever they are."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.skills.reading.patterns import (
    BadPattern,
    Pass,
    TaskPattern,
    compile_pattern,
    pattern_hits,
    searchable,
)
from tests.skills.test_builtin_skills_fit_their_tasks import labelled, shelf

ATOMS = (
    "a",
    "b",
    "A",
    "é",
    "整",
    "理",
    ".",
    "[ab]",
    "[^a]",
    r"\b",
    r"\W",
    r"\w+",
    "^",
    "$",
    ".*",
    "(a|理)",
    " ",
    r"\s",
)
pieces = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=6).map("".join)
expressions = st.lists(pieces, min_size=1, max_size=3).map("|".join)
texts = st.text(st.sampled_from("abAé整理 \n.，-"), max_size=30)


def compiled(expression: str) -> TaskPattern | None:
    try:
        return compile_pattern(expression)
    except BadPattern:
        return None


def one_by_one(patterns: tuple[TaskPattern, ...], text: bytes) -> frozenset[str]:
    return frozenset(pattern.text for pattern in patterns if pattern.is_in(text))


@settings(max_examples=300)
@given(st.lists(expressions, max_size=12), texts)
def test_it_is_the_same_as_one_after_the_other(said: list[str], text: str) -> None:
    patterns = tuple(found for each in said if (found := compiled(each)) is not None)
    assert pattern_hits(patterns, searchable(text)) == one_by_one(patterns, searchable(text))


def test_it_is_the_same_for_the_skills_of_the_package() -> None:
    every = shelf().patterns
    assert len(every) > 50
    for each in labelled():
        text = searchable(each.task)
        assert pattern_hits(every, text) == one_by_one(every, text)


@dataclass(frozen=True)
class Silent:
    """A set that had too little memory: it finds nothing, not even what is in every text."""

    def Match(self, text: bytes) -> list[int] | None:
        return None


def test_a_pass_without_an_answer_is_no_answer() -> None:
    patterns = (compile_pattern("tea"), compile_pattern("茶"))
    assert Pass(patterns, Silent(), 2).hits(searchable("茶 and tea")) == {"tea", "茶"}
    assert Pass(patterns, None, 0).hits(searchable("tea")) == {"tea"}


def test_what_is_too_much_for_one_pass_is_found_by_itself() -> None:
    large = tuple(compile_pattern(f"{'long word ' * 60}{number}") for number in range(340))
    last = compile_pattern("tea")
    both = (*large, last)
    assert pattern_hits(both, searchable("tea")) == {"tea"}
    text = searchable(f"{'long word ' * 60}{3} and {'long word ' * 60}{339}")
    assert pattern_hits(both, text) == one_by_one(both, text) != frozenset()
