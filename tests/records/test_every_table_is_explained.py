"""The document of this package lists every table and every kind of lines that the program keeps, and no other."""

import re
from pathlib import Path

from agent.records import takeover
from agent.vault import layout

AGENT = Path(__file__).parents[2] / "agent"


def test_the_document_lists_what_is_kept() -> None:
    code = "".join(path.read_text("utf-8") for path in AGENT.rglob("*.py"))
    named = set(re.findall(r"\bTable\(\s*[\w.]+,\s*\"([a-z-]+)\"", code)) | {layout.NOTICES, layout.OCCURRENCES}
    rows = re.findall(r"^\| (`[a-z-]+`(?: `[a-z-]+`)*) \|", (AGENT / "records/README.md").read_text("utf-8"), re.M)
    listed = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
    assert named == listed and len(named) > 20
    taken = {name for name, _ in takeover._FILES.values()} | set(takeover._LINES.values())
    assert taken <= named, "what an earlier version kept is read by somebody"
