"""The table of folders: each folder of a vault has a row, each module asks it, and no spelling is a way around."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.folders import (
    AT_ROOT,
    FOLDERS,
    INBOX,
    OWN_NOTES,
    SESSIONS,
    AgentFolder,
    Folder,
    Reader,
    Recalled,
    WriteRule,
)
from tests.sources import Source, parsed, sources

folder_of, write_rule = AT_ROOT.row, AT_ROOT.write_rule
ROOT = Path(__file__).parents[2]
NOT_ABOVE_THE_TABLE = {"markdown/requests.py", "importers/openclaw.py"}
"""One lies below the table, and so spells the one folder that it has to know: its session links; the other knows the
files of another program, of which one has the name of one of ours."""
NAMES = sorted({folder.path.rstrip("/") for folder in FOLDERS})
SPELT = re.compile(rf"(?<![\w/.-])(?:{'|'.join(name for name in NAMES if '.' not in name)})/|(?:AGENT|MEMORY)\.md")


def prose(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """The strings that are no values: docstrings of modules, classes, functions and constants."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def spelt(module: Source) -> list[str]:
    left_out = set(prose(module.nodes))
    texts = (node for node in module.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [str(node.value) for node in texts if id(node) not in left_out and SPELT.search(str(node.value))]


def test_no_module_but_the_table_spells_a_folder() -> None:
    found = {module.path for module in sources() if spelt(module)}
    assert found == {"vault/folders.py", *NOT_ABOVE_THE_TABLE}


def test_prompts_are_read_in_the_agent_s_folder() -> None:
    """A reader that takes a path would look for `prompts/` at the vault's root."""
    assert [each.path for each in sources() if re.search(r"\.own_version\b(?!\(|`)", each.text)] == []


def test_the_scan_finds_folders_in_every_kind_of_string(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""entries/ in prose."""\nA = "entries/"\nB = f"x {A} daily/{A}"\nC = rb"x"\nD = "my-entries/"\n'
    )
    assert spelt(parsed(module, tmp_path)) == ["entries/", " daily/"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_folder_of_the_template_has_a_row(language: str) -> None:
    template = ROOT / "vault_template" / language
    folders = {f"{path.parent.relative_to(template).as_posix()}/" for path in template.rglob("*.md")} - {"./"}
    assert folders <= {folder.path for folder in FOLDERS}
    assert {path.name for path in template.glob("*.md")} & {"AGENT.md", "MEMORY.md"} <= {each.path for each in FOLDERS}


def test_every_folder_that_the_documentation_names_has_a_row() -> None:
    about = (ROOT / "agent/docs/en/vault.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z]+/)`", about))
    assert named and named <= {folder.path for folder in FOLDERS}


def test_no_path_has_two_rows_and_each_says_what_it_holds() -> None:
    assert len({folder.path.casefold() for folder in FOLDERS}) == len(FOLDERS)
    assert all(folder.holds and (folder.path.endswith("/") or folder.path.endswith(".md")) for folder in FOLDERS)


def test_a_folder_is_never_freer_than_the_one_that_it_lies_in() -> None:
    for folder in FOLDERS:
        parent = folder_of(folder.path.rstrip("/").rpartition("/")[0])
        assert folder.write >= parent.write and (folder.searched <= parent.searched)


def test_what_comes_back_unasked_as_a_memory_is_never_free_to_write() -> None:
    assert [
        each.path for each in FOLDERS if each.recalled is Recalled.AS_MEMORY and each.write < WriteRule.MEMORY
    ] == []


def test_what_steers_is_no_knowledge_and_changes_only_with_a_yes() -> None:
    for name in ("tasks/x.md", "jobs/x.md", "lessons.md", "prompts/system.md", "AGENT.md"):
        row = folder_of(name)
        assert row.steers and row.write is WriteRule.AFTER_YES and row.recalled is Recalled.NO


@pytest.mark.parametrize("path", ["reflections/2026-11/x.md", "research/x.md", "Research/deep/x.md"])
def test_reflections_and_research_are_written_by_the_program_only(path: str) -> None:
    assert write_rule(path) is WriteRule.PROGRAM


def test_guests_see_the_persons_own_notes_and_no_folder_of_the_agents() -> None:
    assert OWN_NOTES.read is Reader.GUEST and {folder.read for folder in FOLDERS} == {Reader.OWNER}


def test_requests_are_looked_for_where_people_write() -> None:
    assert {each.path for each in FOLDERS if each.asks} == {"daily/", INBOX}
    assert OWN_NOTES.asks


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("archive/entries/x.md", "archive/"),
        ("archive/forgotten/x.md", "archive/forgotten/"),
        ("archive/forgotten.md", "archive/"),
        ("tasks/done/2026/x.md", "tasks/done/"),
        ("TASKS/x.md", "tasks/"),
        ("Entries/2026/11/x.md", "entries/"),
        ("memory.MD", "MEMORY.md"),
        ("notes/MEMORY.md", ""),
        ("notes/entries/x.md", ""),
        ("jobs.base", ""),
        ("SESSIO~1/x.md", "sessions/"),
        ("RE~1/x.md", "reflections/"),
    ],
)
def test_the_longest_row_holds(path: str, row: str) -> None:
    assert folder_of(path).path == row


@given(st.sampled_from(FOLDERS), st.data())
def test_no_spelling_leads_to_another_row(folder: Folder, data: st.DataObject) -> None:
    names = []
    for name in folder.path.rstrip("/").split("/"):
        spelling = ""
        for letter in name:
            wide = chr(ord(letter) + 0xFEE0)
            spelling += data.draw(st.sampled_from((letter, letter.upper(), wide, f"\u200d{letter}", f"{letter}\ufeff")))
        names.append(spelling + data.draw(st.sampled_from(("", ".", " ", ". .", "\u00ad"))))
    inside = "/x.md" if folder.path.endswith("/") else ""
    assert folder_of("/".join(names) + inside) == folder


def test_transcripts_are_recalled_by_their_summaries_only() -> None:
    assert folder_of(SESSIONS).searched


@pytest.mark.parametrize("under", ["", "Agent/", "notes/Agent/"])
def test_a_name_is_the_same_note_wherever_the_agent_s_folder_is(under: str) -> None:
    home = AgentFolder(under)
    for folder in FOLDERS:
        name = folder.path + ("x.md" if folder.path.endswith("/") else "")
        assert home.name_of(home.at(name)) == name and home.row(home.at(name)) == folder
        assert home.write_rule(home.at(name)) == AT_ROOT.write_rule(name)
    assert home.holds(home.at("sessions/x.md"), INBOX, SESSIONS) and not home.holds(home.at("inbox/x.md"), SESSIONS)


@pytest.mark.parametrize(
    "path", ["sessions/x.md", "Agentx/sessions/x.md", "x/Agent/sessions/x.md", "Agent.md", "Agent"]
)
def test_outside_the_agent_s_folder_all_is_the_person_s(path: str) -> None:
    home = AgentFolder("Agent/")
    assert home.row(path) is OWN_NOTES and not home.holds(path, SESSIONS) and home.with_archived(path) == (path,)
    assert home.write_rule("skills/tea/SKILL.md") is WriteRule.AFTER_YES


@pytest.mark.parametrize("spelt", ["agent", "AGENT", "Agent ", "Ag\u200bent", "Agent:x", "AGENT~1"])
def test_no_spelling_of_the_agent_s_folder_is_a_way_around(spelt: str) -> None:
    assert AgentFolder("Agent/").write_rule(f"{spelt}/Approvals/x.md") is WriteRule.PROGRAM
