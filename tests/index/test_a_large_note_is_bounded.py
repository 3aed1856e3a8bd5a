"""A note of megabytes is found by its text, in bounded memory, and what is not found of it is said."""

import subprocess
import sys

import pytest

from agent.index import document
from agent.index.document import LARGEST, WHOLE, WINDOW
from tests.trust.forks import PROJECT

LINK = "[[note {0}|text]] and [a](b{0}.md)"
SHAPES = {
    "links, one a line": ("", LINK + "\n", 200_000),
    "links in one line": ("", LINK + " ", 200_000),
    "headings": ("", "# h{0}\n", 900_000),
    "tags": ("", "#t{0} ", 800_000),
    "tasks": ("", "- [ ] t{0}\n", 500_000),
    "Chinese without a line end": ("", "龙井茶", 900_000),
    "a table": ("|a|b|\n|-|-|\n", "|x|y|\n", 900_000),
    "an open fence": ("```\n", "x = 1\n", 900_000),
}
"""What a note begins with, what comes again and again with a number, and how often."""
CHILD = """
import resource, sys
from agent.index import document, encode, embedder, keyword
data = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = document.parse_document("big.md", data)
encode.encode([found], embedder.choose_embedder("").embedder, keyword.Weights().fields)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def made(shape: str, size: int) -> bytes:
    """The first bytes of a note of this shape."""
    begin, again, count = SHAPES[shape]
    most = min(count, size // len(again) + 1)
    return (begin + "".join(again.format(number) for number in range(most))).encode()[:size]


def megabytes_for(shape: str, size: int) -> int:
    """How much memory a note of `size` bytes takes in a process of its own, its text and the model included."""
    data = made(shape, size)
    done = subprocess.run([sys.executable, "-c", CHILD], input=data, capture_output=True, cwd=PROJECT, check=True)
    factor = 1 if sys.platform == "linux" else 1024
    return int(done.stdout) // factor


def test_memory_stays_below_a_bound() -> None:
    assert megabytes_for("links, one a line", WHOLE + WHOLE // 10) < 300


@pytest.mark.chaos
@pytest.mark.parametrize("shape", SHAPES)
def test_memory_stays_below_a_bound_at_the_largest_size(shape: str) -> None:
    assert megabytes_for(shape, LARGEST) < 350


@pytest.mark.parametrize("shape", SHAPES)
def test_units_and_terms_are_capped_whatever_the_note_is_made_of(monkeypatch: pytest.MonkeyPatch, shape: str) -> None:
    monkeypatch.setattr(document, "WHOLE", 1 << 16)
    monkeypatch.setattr(document, "MOST_TERMS", 2000)
    data = made(shape, 100_000)
    found = document.parse_document("big.md", data)
    assert len(found.units) <= 200
    assert sum(len(unit.terms) for unit in found.units[1:]) <= 2000
    assert all(len(unit.text) <= 2 * WINDOW for unit in found.units[1:])
    assert "its text is found up to line" in found.problem
    assert found.text == data.decode("utf-8", "replace"), "what is shown is the whole note"


def test_a_large_note_keeps_its_header_and_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "WHOLE", 1 << 16)
    text = "---\ntitle: Long log\ntags: [log]\n---\n" + "a line of plain words\n" * 6_000 + "the very end\n"
    found = document.parse_document("big.md", text.encode())
    assert found.title == "Long log" and ("tag", "log") in found.facets
    lines = text.split("\n")
    for unit in found.units[1:]:
        assert unit.text == "\n".join(lines[unit.first - 1 : unit.last])
    assert "very end" in found.units[-1].text and "up to line 6005" in found.problem


def test_a_note_of_many_lines_has_units_of_several_and_one_of_few_a_unit_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = document.parse_document("note.md", b"a line\n" * 900)
    monkeypatch.setattr(document, "MOST_UNITS", 100)
    many = document.parse_document("note.md", b"a line\n" * 900)
    assert few.problem == many.problem == ""
    assert len(few.units) == 901 and len(many.units) == 91
