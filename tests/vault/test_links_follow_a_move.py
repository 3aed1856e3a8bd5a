"""After a note was moved, each link of the vault leads to the note to which it led before."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.markdown.blocks import parse_body
from agent.markdown.links import find_header_links, find_links
from agent.markdown.note import Note
from agent.vault.change import Stamp
from agent.vault.folders import AgentFolder
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from agent.vault.moving import NoteMove, archive_path, plan_move
from agent.vault.note_names import NoteNames
from agent.vault.store import Vault
from tests.vaults import FAST, git, make_vault


def move(vault: Vault, path: str, to: str, without: tuple[str, ...] = ()) -> NoteMove:
    made = plan_move(vault, path, to, vault.read(path) or b"", lambda each: each not in without)
    with vault.transaction(f"move {path}", Stamp("agent")) as change:
        made.fill(change)
    return made


def text(vault: Vault, path: str) -> str:
    return (vault.read(path) or b"").decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("See [[Bread]], [[Bread|loaf]], ![[Bread#Crust]].", "See [[Rolls]], [[Rolls|loaf]], ![[Rolls#Crust]]."),
        ("| a |\n|---|\n| [[Bread\\|tbl]] |", "| a |\n|---|\n| [[Rolls\\|tbl]] |"),
        ("[[n/Bread]] and [[n/Bread.md]]", "[[m/Rolls]] and [[m/Rolls.md]]"),
        ("[md](Bread.md), [md](../n/Bread.md#x)", "[md](../m/Rolls.md), [md](../m/Rolls.md#x)"),
        ("[md](<Bread.md>)", "[md](<../m/Rolls.md>)"),
        ("[[Breadcrumbs]], [[Other]], [web](https://example.org/Bread.md)",) * 2,
    ],
)
def test_links_of_each_form_follow(tmp_path: Path, before: str, after: str) -> None:
    header = '---\nup: "[[{}]]"\n---\n'
    notes = {"n/Bread.md": "# Bread\n", "n/list.md": header.format("Bread") + before, "n/Breadcrumbs.md": "x"}
    vault = make_vault(tmp_path, notes)
    move(vault, "n/Bread.md", "m/Rolls.md")
    assert text(vault, "n/list.md") == header.format("Rolls") + after


def test_a_name_that_another_note_has_is_told_apart(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a/X.md": "mine", "b/Y.md": "yours", "list.md": "[[X]] [[Y]]", "c/list.md": "[[Y]]"})
    move(vault, "a/X.md", "a/Y.md")
    assert text(vault, "list.md") == "[[a/Y]] [[b/Y]]"
    assert text(vault, "c/list.md") == "[[b/Y]]", "the new name would take this link over"


def test_what_the_moved_note_links_to_stays_what_it_was(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"n/Bread.md": "[to](Oven.md) [[Oven]] [[Bread]]", "n/Oven.md": "hot"})
    move(vault, "n/Bread.md", "deep/er/Loaf.md")
    assert text(vault, "deep/er/Loaf.md") == "[to](../../n/Oven.md) [[Oven]] [[Loaf]]"
    assert vault.read("n/Bread.md") is None


def test_a_note_that_comes_between_takes_no_link_away(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"Bread.md": "x", "n/Tea.md": "[own](Tea.md)", "n/list.md": "[tea](Tea.md) [[Tea]]"})
    move(vault, "Bread.md", "Tea.md")
    assert text(vault, "n/Tea.md") == "[own](./Tea.md)"
    assert text(vault, "n/list.md") == "[tea](./Tea.md) [[n/Tea]]"


def test_a_canvas_shows_the_moved_note(tmp_path: Path) -> None:
    canvas = {"nodes": [{"type": "file", "file": "n/茶 Bread.md"}, {"type": "text", "text": "see [[茶 Bread]]"}]}
    notes = {"n/茶 Bread.md": "x", "board.canvas": json.dumps(canvas, ensure_ascii=False)}
    vault = make_vault(tmp_path, notes)
    move(vault, "n/茶 Bread.md", "n/Tea.md")
    assert json.loads(text(vault, "board.canvas"))["nodes"] == [
        {"type": "file", "file": "n/Tea.md"},
        {"type": "text", "text": "see [[Tea]]"},
    ]


def test_all_of_it_is_one_commit_that_can_be_undone_and_what_may_not_be_changed_is_named(tmp_path: Path) -> None:
    notes = {"Bread.md": "# Bread\n", "list.md": "[[Bread]]", "log.md": "[[Bread]]"}
    vault = make_vault(tmp_path, notes)
    made = move(vault, "Bread.md", "Rolls.md", without=("log.md",))
    assert (text(vault, "list.md"), text(vault, "log.md"), made.left) == ("[[Rolls]]", "[[Bread]]", ("log.md",))
    undo(vault, Selection(commits=(git(vault.place.root, "rev-parse", "HEAD").strip(),)))
    assert {path: text(vault, path) for path in notes} == notes and vault.read("Rolls.md") is None


STEMS = ["Tea", "Bread", "茶"]
FOLDERS = ["", "n/", "n/m/", "o/"]
PATHS = [f"{folder}{stem}.md" for folder in FOLDERS for stem in STEMS]
FORMS = ["[[{stem}]]", "[[{bare}]]", "[[{bare}|x]]", "[x]({path})", "[x](<{path}>)", "![[{stem}#h]]"]


def targets(vault: Vault, names: NoteNames, path: str) -> list[str | None]:
    data = vault.read(path) or b""
    note = Note.parse(data)
    links = (*find_header_links(data), *find_links(parse_body(note.body, note.body_line))[0])
    return [names.find(path, each.target) for each in links]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_each_link_means_the_same_note_afterwards(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    paths = data.draw(st.lists(st.sampled_from(PATHS), min_size=2, max_size=6, unique=True))
    notes = {}
    for path in paths:
        linked = data.draw(st.lists(st.tuples(st.sampled_from(FORMS), st.sampled_from(PATHS)), max_size=4))
        words = (form.format(stem=Path(to).stem, bare=to.removesuffix(".md"), path=to) for form, to in linked)
        notes[path] = "\n".join(words) + "\n"
    vault = make_vault(tmp_path_factory.mktemp("moving"), notes)
    moved, to = data.draw(st.sampled_from(paths)), data.draw(st.sampled_from([*(set(PATHS) - set(paths)), "p/New.md"]))
    names = NoteNames.of(paths)
    before = {path: targets(vault, names, path) for path in paths}
    move(vault, moved, to)
    there = [to if path == moved else path for path in paths]
    after = NoteNames.of(there)
    for path in paths:
        wanted = [to if found == moved else found for found in before[path]]
        now = targets(vault, after, to if path == moved else path)
        assert [each for each, had in zip(now, wanted, strict=True) if had is not None] == [
            each for each in wanted if each is not None
        ]


def test_a_note_anywhere_has_a_place_in_the_archive_below_the_agents_folder(tmp_path: Path) -> None:
    options = replace(FAST, home=AgentFolder("Agent/"))
    vault = make_vault(tmp_path, {"Agent/archive/tea.md": "green\n"}, options=options)
    assert archive_path(vault, "garden/old.md") == "Agent/archive/garden/old.md"
    assert archive_path(vault, "Agent/tasks/done/old.md") == "Agent/archive/tasks/done/old.md"
    assert archive_path(vault, "tea.md", {"Agent/archive/tea-2.md"}) == "Agent/archive/tea-3.md"
    assert archive_path(vault, "maps/Wald.canvas") == "Agent/archive/maps/Wald.canvas"
