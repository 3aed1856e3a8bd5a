"""The page that shows what would be forgotten has the lines that people read, and none of the program's marks."""

from pathlib import Path

from tests.interfaces.http.pages.house import open_house

SESSION = """---
type: session
---
# The tin

> %% vault-agent: context {"source": "memories", "given": [["tea.md", 1, 3]]} %%

The tin is beside [[tea]].
"""
NAMED = '> %% vault-agent: context {"source": "memories", "given": [["tea.md", 1, 3]]} %%\n'


def test_a_lost_line_is_shown_and_a_mark_is_not(tmp_path: Path) -> None:
    notes = {
        "tea.md": "# Tea\n\nThe Assam is in the cellar.\n",
        "sessions/2026/11/2026-11-21 The tin.md": SESSION,
        "sessions/2026/11/2026-11-22 Nothing.md": f"---\ntype: session\n---\n# Nothing\n\n{NAMED}",
    }
    with open_house(tmp_path, notes) as house:
        shown = house.fetch("/memory/forget?name=tea.md")
    assert '<div class="removed">The tin is beside [[tea]].</div>' in shown
    assert "vault-agent: context" not in shown
    assert "Only its links change." in shown, "a note that loses no line that people read says so"
