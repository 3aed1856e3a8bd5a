"""A template whose header has placeholders is no note that could not be read; another broken header is one."""

import pytest

from agent.index.document import parse_document


@pytest.mark.parametrize(
    ("header", "is_problem"),
    [("date: {{date}}", False), ("title: <% tp.file.title %>", False), ("a: [", True)],
)
def test_placeholders_are_no_problem(header: str, is_problem: bool) -> None:
    found = parse_document("模板/每日.md", f"---\n{header}\n---\n# Day\n\nA walk\n".encode())
    assert bool(found.problem) is is_problem
    assert "walk" in found.text
