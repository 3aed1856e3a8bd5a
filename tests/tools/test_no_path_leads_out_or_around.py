"""Path attacks through every writing tool: nothing outside, nothing closed, nothing steering without a yes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import NeedsApproval
from agent.llm.messages import Json
from agent.vault.folders import AT_ROOT, WriteRule
from tests.stories.hostile import listing
from tests.tools.house import House, house
from tests.vaults import write

OUTSIDE = [
    "../out.md",
    "/tmp/out.md",
    "~/out.md",
    "a/../../out.md",
    "./a.md",
    "a//b.md",
    "a\\..\\..\\out.md",
    "C:/out.md",
    "a\0b.md",
    "a\nb.md",
    "link.md",
    "door/secret.md",
    "door/new.md",
    "a.md/b.md",
    "x" * 300 + ".md",
    ". ./x.md",
]
CLOSED = [
    ".git/config.md",
    ".GIT/hooks/pre-commit.md",
    "sub/.git/x.md",
    "git~1/x.md",
    ".obsidian/plugins/x.md",
    ".gitattributes",
    "vault-agent.yaml",
    "Vault-Agent.yaml",
    ".github/workflows/x.md",
    ".trash/a.md",
    "approvals/yes.md",
    "Approvals/yes.md",
    "APPROVALS./yes.md",
    "approvals /yes.md",
    " approvals/yes.md",
    "a\u200bpprovals/yes.md",
    "\uff41pprovals/yes.md",
    "approvals::$DATA/yes.md",
    "APPROV~1/yes.md",
    "approvals/deep/yes.md",
    "questions/a.md",
    "Questions/a.md",
    "sessions/2026/11/a.md",
    "se\u017fsions/a.md",
    "archive/forgotten/2026-11-22-abc123.md",
    "Archive/Forgotten/x.md",
    "archive/forgotten./x.md",
    "archive/FORGOT~1/x.md",
    "ARCHIV~1/FORGOT~2/x.md",
    "archive/\uff46orgotten/deep/x.md",
    "arch\u200bive/forgotten /x.md",
    "jobs/history/x.md",
    "JOBS/HISTOR~1/x.md",
    "skills/history/x.md",
    "skills/deprecated/old/SKILL.md",
    "skills/mutations/x.md",
    "tasks/done/x.md",
    "Tasks/DONE/2026/x.md",
    "reflections/2026-11/x.md",
    "re\ufb02ections/x.md",
    "REFLEC~1/2026-11/x.md",
]
OLD = [
    f"{folder}/old.md"
    for folder in (
        "approvals",
        "questions",
        "sessions",
        "archive/forgotten",
        "skills/history",
        "tasks/done",
        "reflections",
    )
]
"""Notes that are there: neither changed, nor moved out of their folder."""
STEERING = [
    "skills/x/SKILL.md",
    "Skills/x.md",
    "skills/learned/x.md",
    "rules/x.md",
    "RULES/x.md",
    "jobs/x.md",
    "tasks/x.md",
    "Tasks/x/y.md",
    "inbox/x.md",
    "prompts/system.md",
    "AGENT.md",
    "agent.md",
    "Agent.MD.md/../AGENT.md",
    "sub/AGENT.md",
    "sub/CLAUDE.md",
    "AGENTS.md",
    "sub/skill.md",
    "\uff32ules/x.md",
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> House:
    folder = tmp_path_factory.mktemp("house")
    notes = {
        "a.md": "text\n",
        "approvals/old.md": "old\n",
        "questions/old.md": "old\n",
        "sessions/old.md": "old\n",
        "archive/forgotten/old.md": "old\n",
        "archive/entries/old.md": "old\n",
        "skills/history/old.md": "old\n",
        "tasks/done/old.md": "old\n",
        "reflections/old.md": "old\n",
        "skills/old.md": "old\n",
        "AGENT.md": "mine\n",
    }
    home = house(folder, notes)
    outside = folder / "outside"
    write(outside / "secret.md", "secret\n")
    root = home.vault.place.root
    (root / "door").symlink_to(outside)
    (root / "link.md").symlink_to(outside / "secret.md")
    return home


def attacks(path: str) -> list[tuple[str, dict[str, Json]]]:
    return [
        ("vault_write", {"path": path, "content": "pwned\n"}),
        ("vault_append", {"path": path, "text": "pwned\n"}),
        ("vault_edit", {"path": path, "old": "e", "new": "pwned"}),
        ("vault_move", {"path": path, "to": "stolen.md"}),
        ("vault_move", {"path": "a.md", "to": path}),
    ]


def standing(home: House) -> dict[str, str]:
    """Everything in the vault and around it, but for git's and our own records and the questions that were asked."""
    root = home.vault.place.root
    aside = (f"{root.parent}/state", f"{root}/.git/", f"{root}/approvals/2026")
    return {name: what for name, what in listing(root.parent).items() if not name.startswith(aside)}


def untouched(home: House, path: str, *, asks: bool = False) -> None:
    """Attack through every writing tool; `asks`: each must end in a question, or in an error."""
    before = standing(home)
    for tool, arguments in attacks(path):
        try:
            called = home.call(tool, **arguments)
        except NeedsApproval:
            assert asks, f"{tool} {path!r} asked"
            continue
        assert called.result.failed, f"{tool} {path!r}: {called.result.text}"
    assert standing(home) == before


@pytest.mark.parametrize("path", OUTSIDE, ids=ascii)
def test_no_tool_writes_outside_the_vault_or_through_a_link(home: House, path: str) -> None:
    untouched(home, path)
    assert "secret" not in home.call("vault_read", path=path).result.text.replace(path, "")


@pytest.mark.parametrize("path", [*CLOSED, *OLD], ids=ascii)
def test_no_tool_touches_what_is_closed(home: House, path: str) -> None:
    untouched(home, path)


@pytest.mark.parametrize("path", [*STEERING, "skills/old.md"], ids=ascii)
def test_what_steers_the_agent_changes_only_with_a_yes(home: House, path: str) -> None:
    untouched(home, path, asks=True)


@pytest.mark.parametrize("path", [".obsidian/app.json", ".git/config", "vault-agent.yaml", ".env", "sub/.hidden/a.md"])
def test_what_is_hidden_is_not_read_either(home: House, path: str) -> None:
    write(home.vault.place.root / path, home.text(path) if path == ".git/config" else "inside\n")
    assert "inside" not in home.fails("vault_read", path=path)


NAMES = st.sampled_from(("approvals", "questions", "sessions", "reflections", "archive/forgotten", "tasks/done"))


@given(NAMES, st.data())
def test_no_spelling_that_folds_to_a_closed_folder_is_open(name: str, data: st.DataObject) -> None:
    spelt = ""
    for letter in name:
        wide = chr(ord(letter) + 0xFEE0) if letter != "/" else letter
        spelt += data.draw(st.sampled_from((letter, letter.upper(), wide, f"\u200d{letter}", f"{letter}\ufeff")))
    spelt += data.draw(st.sampled_from(("", ".", " ", ". .", "\u00ad")))
    assert AT_ROOT.write_rule(f"{spelt}/x.md") is WriteRule.PROGRAM


@pytest.mark.parametrize(
    "path",
    [
        "approval/x.md",
        "notes/approvals/x.md",
        "approvals.md",
        "a.b/c.md",
        "my rules/x.md",
        "archive/forgotten.md",
        "archive/entries/x.md",
        "archive/done/x.md",
        "done/x.md",
    ],
)
def test_ordinary_names_are_open(path: str) -> None:
    assert AT_ROOT.write_rule(path) is WriteRule.FREE
