"""The wikilinks of one line: the notes that they name, and the line without them."""

import pytest

from agent.markdown.links import linked_names, without_links


@pytest.mark.parametrize(
    ("line", "names", "rest"),
    [
        ("Ana keeps it [[people/Ana|Ana]] and [[key#Spare|here]].", ("people/Ana", "key"), "Ana keeps it  and ."),
        ("see [[#Plan]] above, [[]] too", (), "see  above,  too"),
        ("[[[odd]] and [[open", ("odd",), "[ and [[open"),
        ("[[" * 50_000, (), "[[" * 50_000),
    ],
)
def test_the_links_of_a_line(line: str, names: tuple[str, ...], rest: str) -> None:
    assert (linked_names(line), without_links(line)) == (names, rest)
