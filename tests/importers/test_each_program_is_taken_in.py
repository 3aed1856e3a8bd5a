"""An export of each program becomes notes, facts and files, with their words, days and links, once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.importers.formats import FORMATS
from agent.markdown.note import Note
from tests.importers.exports import EXPORTS, PNG, take
from tests.vaults import make_vault

WRITTEN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "chatgpt": {
        "Imported/2023/2023-11-14 Trip to Rome.md": (
            "## You · 2023-11-14 22:13\n\nWhen does the train leave?\n\n![ticket.png](../attachments/ticket.png)",
            "## ChatGPT · 2023-11-14 22:13\n\nAt nine.",
            "source: https://chatgpt.com/c/c1",
        ),
        "Imported/attachments/ticket.png": (),
    },
    "claude": {
        "Imported/2025/2025-02-03 House.md": ("Summarise this", "The roof comes first.", "Roof, then walls."),
        "Imported/Garden/beds.md": ("Tomatoes in the south bed.",),
        "Imported/Garden/Garden.md": ("Speak of plants.",),
        "entries/": ("Builds a house near Bonn",),
    },
    "gemini": {
        "Imported/2025/2025-05-02 Gemini 2025-05-02.md": (
            "how tall is the tower",
            "It is **96 m** tall.\n\n- since 1890",
        )
    },
    "letta": {
        "entries/": ("Sarah is a product manager.",),
        "Imported/sam persona.md": ("I am Sam, who helps.",),
        "Imported/2025/2025-03-01 sam.md": ("## You · 2025-03-01 08:00\n\nHello there", "## Letta\n\nGood morning"),
    },
    "evernote": {
        "Imported/My notes/Shopping.md": (
            "created: 2024-01-05T09:30:00+00:00\nmodified: 2024-01-06T09:30:00+00:00",
            "- home",
            "source: https://example.org/list",
            "Milk & eggs\n\n- [x] done\n![](../attachments/shop.png)",
        ),
        "Imported/attachments/shop.png": (),
    },
    "mem0": {"entries/2025/01/": ("Anna likes green tea", "created: 2025-01-02T03:04:05+00:00", "  - mem0")},
    "khoj": {
        "Imported/2024/2024-06-01 Plants.md": ("What is a rhizome?", "## Khoj · 2024-06-01 10:00\n\nA root stalk.")
    },
    "openclaw": {
        "entries/": ("Mia plays the cello",),
        "Imported/About the user.md": ("Name: Mia",),
        "Imported/memory/2026-01-05.md": ("created: 2026-01-05T", "Talked about strings."),
    },
    "logseq": {
        "Imported/pages/Projects - Boat.md": (
            "- wood\n  - water",
            "- Sand the [[hull]]",
            "![plan](../attachments/p.png)",
        ),
        "Imported/journals/2024-03-04.md": ("created: 2024-03-04T", "- Met Jo"),
        "Imported/attachments/p.png": (),
    },
    "obsidian-copilot": {"Imported/2024/2024-07-03 Soup.md": ("Which soup?", "## Copilot · 2024-07-03 12:00\n\nLeek.")},
    "notion": {
        "Imported/Home.md": (
            "created: 2024-01-05T09:30:00+00:00",
            "[Kitchen](Home/Kitchen.md)",
            "![plan](attachments/plan.png)",
        ),
        "Imported/Home/Kitchen.md": ("Paint it yellow.",),
        "Imported/Home/Costs.md": ("| Item | Euro |\n| --- | --- |\n| Paint | 40 |",),
        "Imported/attachments/plan.png": (),
        "Imported/attachments/": (),
    },
    "apple-notes": {"Imported/Bike.md": ("The lock is 4711.",), "Imported/attachments/photo.png": ()},
    "basic-memory": {
        "Imported/coffee/Coffee brewing.md": (
            "title: Coffee brewing",
            "- coffee",
            "# Coffee\n\n- [method] Pour slowly #taste",
        )
    },
    "older-layout": {"entries/2017/10/": ("The boat is blue",)},
}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_recognised_and_taken_in_once(name: str, tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {})
    export = EXPORTS[name](tmp_path)
    plan, done = take(vault, export)
    assert plan.format.name == name
    for path, words in WRITTEN[name].items():
        files = [each for each in done.paths if each == path or (path.endswith("/") and each.startswith(path))]
        assert files, (path, done.paths)
        texts = [(vault.place.root / each).read_bytes().decode("utf-8", "replace") for each in files]
        assert all(any(word in each for each in texts) for word in words), texts
    for path in done.paths:
        data = (vault.place.root / path).read_bytes()
        assert data == PNG if path.endswith(".png") else Note.parse(data).problem is None
    assert not take(vault, export)[1].paths, "a second import adds nothing"


def test_each_format_has_an_export() -> None:
    assert {each.name for each in FORMATS} == set(EXPORTS) == set(WRITTEN)


def test_what_steered_another_agent_is_left_out_and_named(tmp_path: Path) -> None:
    plan, done = take(make_vault(tmp_path, {}), EXPORTS["openclaw"](tmp_path))
    left = {each.name for each in plan.left}
    assert left == {"AGENTS.md", "SOUL.md", "skills/x/SKILL.md"}
    assert not any("SOUL" in each or "AGENTS" in each or "SKILL" in each for each in done.paths)
