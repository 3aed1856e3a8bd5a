"""An export of each program becomes notes, facts and files, with their words, days and links, once."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.importers.activity_page import time_of
from agent.importers.formats import FORMATS
from agent.importers.values import LeftReason
from agent.markdown.note import Note
from tests.importers.exports import EXPORTS, PNG, gemini_page, take
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
        "Imported/attachments/Costs.csv": (),
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


def test_an_activity_as_a_page_is_read_like_the_json(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {})
    export = gemini_page(
        tmp_path,
        "Prompted&nbsp;this &amp; all<br>I asked twice<br>May 3, 2025, 1:30:00&#8239;AM CEST<br><p>Yes.</p>",
        "Prompted&nbsp;how tall is this<br>Attached 1 file.<br>-&nbsp;<a href='plan%20a.png'>plan a.png</a><br>"
        "May 2, 2025, 12:05:09\u202fPM GMT+02:00<br><p>It is <b>96 m</b> tall.</p><ul><li>since 1890</li></ul>",
        "你好，Asked 什么<br>2025年5月1日 GMT+8 下午3:04:05<br><p>好</p>",
        "Vous avez demandé<br>1 mai 2025, 09:00:00 CEST<br><p>Oui</p>",
    )
    plan, done = take(vault, export)
    assert plan.format.name == "gemini" and plan.counts["conversations"] == 2
    texts = {path: (vault.place.root / path).read_text("utf-8") for path in done.paths if path.endswith(".md")}
    day = texts["Imported/2025/2025-05-02 Gemini 2025-05-02.md"]
    assert day.index("## You · 2025-05-02 10:05\n\nhow tall is this") < day.index(
        "It is **96 m** tall.\n\n- since 1890"
    )
    assert "![plan a.png](../attachments/plan%20a.png)" in day
    assert "## You · 2025-05-02 23:30" in day and "this & all\nI asked twice" in day
    assert "## You · 2025-05-01 07:04\n\n你好，Asked 什么" in texts["Imported/2025/2025-05-01 Gemini 2025-05-01.md"]
    (left,) = plan.left
    assert left.why is LeftReason.TIME and left.name == "Vous avez demandé 1 mai 2025, 09:00:00 CEST Oui"
    assert not take(vault, export)[1].paths


@pytest.mark.parametrize(
    ("words", "time"),
    [
        ("Mar 8, 2024, 12:14:40 AM UTC", "2024-03-08T00:14:40"),
        ("8 Sept 2024, 17:14:40 BST", "2024-09-08T16:14:40"),
        ("2024-03-08, 5:14:40 p.m. EST", "2024-03-08T22:14:40"),
        ("2024年3月8日 17:14:40 GMT+8", "2024-03-08T09:14:40"),
        ("2024年3月8日 上午12:14:40 CST", "2024-03-07T16:14:40"),
        ("2024年3月8日 GMT+08:00 晚上9:14:40", "2024-03-08T13:14:40"),
        ("Feb 30, 2024, 1:00:00 PM UTC", None),
        ("Mar 8, 2024, 1:00:00 PM", None),
        ("8 mars 2024, 13:00:00 XYZ", None),
    ],
)
def test_a_time_is_read_in_the_words_of_the_account(words: str, time: str | None) -> None:
    found = time_of(words)
    assert (found.isoformat() if found else None) == (f"{time}+00:00" if time else None)
