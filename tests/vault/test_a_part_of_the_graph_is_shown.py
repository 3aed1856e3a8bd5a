"""A part of the graph of links: chosen by text, folder, tag and neighbours, and never too large to send."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.store import Vault
from agent.workspace import link_graph
from agent.workspace import link_graph as link_view
from agent.workspace.link_graph import LinkGraph, LinkReader, LinkView, WantedNotes, view_of
from tests.vaults import make_vault, write

GRAPH = LinkGraph(
    ("a/one.md", "a/two.md", "b/three.md", "b/四.md", "five.md"),
    (("a/one.md", "a/two.md"), ("a/two.md", "b/three.md"), ("b/three.md", "b/四.md")),
    {"a/one.md": ("house/roof", "house"), "five.md": ("house",)},
)


def paths(view: LinkView) -> list[str]:
    return [each.path for each in view.notes]


def pairs(view: LinkView) -> list[tuple[str, str]]:
    return [(view.notes[one].path, view.notes[other].path) for one, other in view.links]


def test_all_of_a_small_graph_is_shown() -> None:
    found = view_of(GRAPH, WantedNotes(neighbours=True))
    assert paths(found) == list(GRAPH.nodes) and tuple(pairs(found)) == GRAPH.edges
    assert [each.links for each in found.notes] == [1, 2, 2, 1, 0]
    assert (found.notes_left, found.links_left) == (0, 0)


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (WantedNotes("ONE"), ["a/one.md"]),
        (WantedNotes("四"), ["b/四.md"]),
        (WantedNotes("a/t"), ["a/two.md"]),
        (WantedNotes(".md"), []),
        (WantedNotes(folder="b/"), ["b/three.md", "b/四.md"]),
        (WantedNotes(folder="thr"), []),
        (WantedNotes(tag="#House"), ["a/one.md", "five.md"]),
        (WantedNotes(tag="house/roof"), ["a/one.md"]),
        (WantedNotes(tag="roof"), []),
        (WantedNotes("o", "a", "house"), ["a/one.md"]),
        (WantedNotes(is_wanted=lambda path: path.startswith("b")), ["b/three.md", "b/四.md"]),
    ],
)
def test_notes_are_chosen(wanted: WantedNotes, shown: list[str]) -> None:
    assert paths(view_of(GRAPH, wanted)) == shown


def test_neighbours_are_shown_and_told_apart() -> None:
    found = view_of(GRAPH, WantedNotes("two", neighbours=True))
    assert [(each.path, each.is_match) for each in found.notes] == [
        ("a/one.md", False),
        ("a/two.md", True),
        ("b/three.md", False),
    ]
    assert len(found.links) == 2
    unwanted = WantedNotes("two", neighbours=True, is_wanted=lambda path: "b/" not in path)
    assert paths(view_of(GRAPH, unwanted)) == ["a/one.md", "a/two.md"]


def test_of_too_many_notes_the_most_linked_are_shown_and_the_rest_counted() -> None:
    found = view_of(GRAPH, WantedNotes(), 2)
    assert paths(found) == ["a/two.md", "b/three.md"] and found.notes_left == 3
    near = view_of(GRAPH, WantedNotes("five", neighbours=True), 1)
    assert paths(near) == ["five.md"], "what was asked for comes before what is linked more"


def test_long_names_and_many_links_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_view, "MOST_CHARACTERS", 20)
    found = view_of(GRAPH, WantedNotes())
    assert paths(found) == ["a/two.md", "b/three.md"] and found.notes_left == 3
    monkeypatch.undo()
    monkeypatch.setattr(link_view, "MOST_LINKS", 1)
    found = view_of(GRAPH, WantedNotes())
    assert pairs(found) == [("a/two.md", "b/three.md")] and found.links_left == 2


@given(
    st.sets(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60),
    st.integers(1, 40),
    st.text("12", max_size=1),
)
def test_every_link_shown_joins_two_notes_that_are_shown(edges: set[tuple[int, int]], most: int, text: str) -> None:
    names = tuple(f"{number}.md" for number in range(31))
    graph = LinkGraph(names, tuple((names[one], names[other]) for one, other in edges if one != other))
    found = view_of(graph, WantedNotes(text, neighbours=True), most)
    assert len(found.notes) <= most
    assert all(pair in graph.edges for pair in pairs(found))
    assert len(found.notes) + found.notes_left <= len(names)
    if not text and most > 30:
        assert len(found.links) == len(graph.edges)


def test_tags_are_read_with_their_parents_and_again_when_a_note_changes(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "---\ntags: [House/Roof]\n---\nSee [[b]]. #money\n", "b.md": "# B\n"})
    reader = LinkReader()
    found = reader.graph(vault)
    assert found.tags == {"a.md": ("house/roof", "house", "money")}
    assert found.edges == (("a.md", "b.md"),)
    write(tmp_path / vault.place.root / "b.md", "#garden [[a]]\n")
    found = reader.graph(vault)
    assert found.tags["b.md"] == ("garden",) and len(found.edges) == 2
    assert reader.graph(vault) is found, "nothing has changed: it is not made again"
    write(vault.place.root / "vault-agent.yaml", "vault:\n  private: b.md\n")
    assert "b.md" not in reader.graph(vault).nodes, "the settings have changed"
    write(vault.place.root / "vault-agent.yaml", "vault:\n  language: en\n")
    write(vault.place.root / "b.md", "---\nagent: never\n---\n[[a]]\n")
    assert "b.md" not in reader.graph(vault).nodes, "a header keeps the agent out"


def test_only_what_has_changed_is_read_again_and_what_was_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, reader, read = (
        make_vault(tmp_path, {f"{n}.md": f"[[{n + 1}]]\n" for n in range(4)}),
        LinkReader(),
        list[str](),
    )
    parse = link_graph._parse

    def counted(vault: Vault, path: str) -> link_graph._Parsed:
        read.append(path)
        return parse(vault, path)

    monkeypatch.setattr(link_graph, "_parse", counted)
    reader.graph(vault)
    assert len(read) == len(vault.note_paths())
    for number in range(20):
        write(vault.place.root / "0.md", f"[[2]] {number}\n")
        read.clear()
        assert ("0.md", "2.md") in reader.graph(vault).edges
        assert read == ["0.md"]
        assert len(reader._known) <= 2 * len(vault.note_paths())
