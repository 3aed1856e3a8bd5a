"""What the official client does in a vault, in both eras of the protocol, and what it is told when it errs."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.vault.history.find import commits
from tests.interfaces.mcp.programs import LEGACY, MODERN, Program, base_in, connected, run
from tests.stories.agents import furnish
from tests.vaults import git, head, write

GARDEN = "# Garden\n\n## Today\n\nwater\n\n## Later\n\nprune\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


@pytest.mark.parametrize("mode", [MODERN, LEGACY])
def test_a_note_is_written_in_the_program_s_name_and_taken_back(root: Path, mode: str) -> None:
    async def work() -> None:
        async with connected(root, "Claude Code", mode=mode) as program:
            done = await program.says("write", path="projects/garden.md", content=GARDEN)
            assert "commit" in done and (root / "projects/garden.md").read_text() == GARDEN
            assert "Vault-Actor: mcp:claude-code" in git(root, "log", "-1", "--format=%B")
            assert "mcp:claude-code" in await program.says("log", limit=1)
            assert "deleted: projects/garden.md" in await program.says("undo")
            assert not (root / "projects/garden.md").exists()
            assert "Vault-Actor: mcp:claude-code" in git(root, "log", "-1", "--format=%B")

    run(work)


def test_a_note_is_changed_in_each_of_the_ways(root: Path) -> None:
    async def work() -> None:
        async with connected(root) as program:
            await program.says("write", path="garden.md", content=GARDEN)
            assert "water" in await program.says("read", path="garden", heading="Today")
            assert "Later" not in await program.says("read", path="garden.md", lines="3-5")
            await program.says("write", path="garden.md", old="prune", new="prune the roses")
            await program.says("write", path="garden.md", append="a last line")
            await program.says("write", path="garden.md", append="weed", heading="Today")
            await program.says("read", path="garden.md")
            await program.says("write", path="garden.md", heading="Today", content="rest")
            await program.says("move", path="garden.md", to="done/garden.md")

    run(work)
    expected = "# Garden\n\n## Today\n\nrest\n\n## Later\n\nprune the roses\n\na last line\n"
    assert (root / "done/garden.md").read_text() == expected
    assert not (root / "garden.md").exists()


def test_only_what_was_read_is_replaced(root: Path) -> None:
    async def work() -> None:
        async with connected(root) as program:
            assert "exists: read it" in await program.fails("write", path="tea.md", content="new\n")
            assert "read that section" in await program.fails("write", path="tea.md", heading="Tea", content="new\n")
            base = base_in(await program.says("read", path="tea.md"))
            write(root / "tea.md", "# Tea\n\nBlack tea.\n")
            said = await program.fails("write", path="tea.md", content="new\n", base=base)
            assert "nothing was written" in said and "Read it again" in said
            assert "exists: read it" in await program.fails("write", path="tea.md", content="new\n")
            base = base_in(await program.says("read", path="tea.md"))
            await program.says("write", path="tea.md", content="new\n", base=base)

    run(work)
    assert (root / "tea.md").read_text() == "new\n"
    assert "Black tea." in git(root, "show", "HEAD~1:tea.md")


def test_a_dry_run_shows_the_diff_and_writes_nothing(root: Path) -> None:
    before = head(root)

    async def work() -> None:
        async with connected(root) as program:
            said = await program.says("write", path="tea.md", old="Green", new="White", dry_run=True)
            assert "-Green tea in the morning." in said and "+White tea in the morning." in said
            assert "nothing is written yet" in await program.says("write", path="new.md", content="x\n", dry_run=True)

    run(work)
    assert head(root) == before and not (root / "new.md").exists()


def test_memory_is_kept_recalled_and_forgotten(root: Path) -> None:
    async def work() -> None:
        async with connected(root) as program:
            await program.says("remember", text="Anna likes white peaches", keywords=["fruit"])
            assert "already" in await program.says("remember", text="Anna likes white peaches")
            assert "white peaches" in await program.says("recall", query="What fruit does Anna like?")
            assert "tea.md" in await program.says("search", query="green tea")
            assert "goes: entries/" in await program.says("forget", what="Anna likes white peaches")
            assert "white peaches" not in await program.says("recall", query="What fruit does Anna like?")

    run(work)
    vault = open_workspace(root).vault
    assert [each.tool for each in commits(vault, actor="mcp:claude-code")] == ["forget", "memory_save"]


def test_everything_of_one_program_is_taken_back_and_nothing_of_another(root: Path) -> None:
    async def work() -> None:
        async with connected(root, "cursor") as other:
            await other.says("write", path="other.md", content="x\n")
        async with connected(root, "Claude Code") as program:
            for name in ("a", "b"):
                await program.says("write", path=f"{name}.md", content="x\n")
            (theirs,) = commits(open_workspace(root).vault, actor="mcp:cursor")
            assert "made by mcp:cursor" in await program.fails("undo", commit=theirs.id[:10])
            assert "would take back" in await program.says("undo", since="1h", dry_run=True)
            await program.says("undo", since="1h")
            assert "nothing of yours" in await program.fails("undo")
            assert "a time looks like" in await program.fails("undo", since="someday")

    run(work)
    assert [path.name for path in root.glob("*.md") if path.stem in {"a", "b", "other"}] == ["other.md"]


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("write", {"path": "a.md", "cntent": "x"}, 'unknown argument "cntent"; allowed: path, content'),
        ("write", {"content": "x"}, "path is missing"),
        ("write", {"path": "a.md"}, "give content, or old and new, or append"),
        ("write", {"path": "a.md", "content": "x", "append": "y"}, "not content and append"),
        ("write", {"path": "../a.md", "content": "x"}, "leaves the vault"),
        ("write", {"path": ".git/config", "content": "x"}, ".git"),
        ("write", {"path": "a.exe", "content": "x"}, "its name must end in"),
        ("write", {"path": "approvals/a.md", "content": "x"}, "not for tools to change"),
        ("write", {"path": "tea.md", "old": "nowhere", "new": "x"}, "read it and copy the text exactly"),
        ("write", {"path": "tea.md", "append": "x", "base": "012345abcdef"}, "Read it again"),
        ("write", {"path": "none.md", "content": "x", "base": "012345abcdef"}, "there is no note none.md"),
        ("read", {"path": "none.md"}, "search finds the right path"),
        ("read", {"path": "tea.md", "heading": "Coffee"}, "it has # Tea"),
        ("read", {"path": "tea.md", "lines": "90-99"}, "has lines 1-3"),
        ("read", {"path": 7}, "path must be of type string"),
        ("search", {"query": "tea", "limit": 1000}, "limit"),
        ("undo", {"commit": "zzzz"}, "log lists the commits"),
        ("jobs", {"id": "none"}, "the jobs are"),
        ("nothing", {}, "does not exist; there are: search, recall, read"),
    ],
)
def test_a_wrong_call_is_told_what_to_do(root: Path, tool: str, given: dict[str, object], told: str) -> None:
    before = head(root)

    async def work() -> None:
        async with connected(root) as program:
            said = await program.fails(tool, **given)
            assert told in said
            assert "vault_" not in said  # the names of the agent's tools are not those that a program has

    run(work)
    assert head(root) == before


def test_a_program_that_works_on_a_note_beside_its_person(root: Path) -> None:
    async def work(program: Program) -> None:
        base = base_in(await program.says("read", path="plan.md"))
        write(root / "plan.md", "# Plan\n\n- buy tea\n- call Ben\n")
        await program.says("write", path="plan.md", append="- sweep")
        assert "nothing was written" in await program.fails("write", path="plan.md", content="x\n", base=base)

    async def connect() -> None:
        async with connected(root) as program:
            await work(program)

    run(connect)
    assert (root / "plan.md").read_text() == "# Plan\n\n- buy tea\n- call Ben\n- sweep\n"
