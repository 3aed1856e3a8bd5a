"""A vault in which a few things have happened, for looking at its pages."""

import re
import struct
import zlib
from datetime import timedelta

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.events.notices import NoticeRaised
from agent.memory.remember import remember
from agent.vault.change import Stamp
from agent.vault.history.find import commits
from tests.interfaces.http.pages.house import House
from tests.stories.agents import NOTES, call

ROOF = """---
title: The roof
status: open
tags: [house, money]
related: "[[paint]]"
---
# The roof

We decided on **slate**, not tiles. See [[paint|the paint]] and [[garden/beds]]; not yet written: [[gutter]].

> [!warning] Before the winter
> The north side leaks. Call the roofer by ==Friday==.

> [!note]- The price
> It is $86 \\cdot a$ for an area $a$[^1]: see [[#The roof]].

[^1]: Without the gutter.

- [x] ask for three offers
- [ ] choose one by 2026-11-28

| offer | price | days |
|---|---|---|
| Meyer | 12,400 | 9 |
| Sons & Co | 13,100 | 6 |

```python
def price(area):
    return area * 86
```

More at [the maker](https://example.org/slate). ![a picture](roof.png)
"""
LIVED = {
    **NOTES,
    "house/roof.md": ROOF,
    "paint.md": "# Paint\n\nWhite, outside only. [[house/roof]]\n",
    "garden/beds.md": "# Beds\n\nTwo of them; the [roof](../house/roof.md) gives the water.\n",
    "jobs/morning.md": '---\ntype: job\non: {cron: "30 7 * * *"}\n---\n# Morning\n\nSay what is due today.\n',
    "profile/31-preferences.md": "---\ntype: profile\nlayer: 3\ntitle: Preferences\n---\n"
    "# Preferences\n\n- **Drink**: green tea\n"
    "- **Music**:\n\nNo calls before ten. See [[paint]].\n",
    "profile/_changelog.md": "# Changelog\n\n"
    "- 2026-11-20: [[profile/31-preferences]] green tea, as said in [[paint]]\n",
    "skills/offers/SKILL.md": "---\nname: offers\ndescription: Compares the offers of craftsmen.\n---\n"
    "# Offers\n\nName each price.\n",
    "walls.md": "# Walls\n\nWhite.\n",
    "walls (conflict 2026-11-20 laptop).md": '---\nconflict_of: "[[walls]]"\n---\n# Walls\n\nGrey.\n',
    "tasks/slate.md": "---\ntype: task\nid: slate\ntask_type: explore_topic\npriority: 7\ndue: 2099-01-05 09:00\n---\n"
    "# How long slate lasts\n\nWhat my notes say, and what they do not.\n",
    "tasks/done/2026/tiles.md": "---\ntype: task\nid: tiles\ntask_type: explore_topic\nstatus: completed\n"
    "result: Forty years.\ncompleted_at: 2026-11-20 09:00\n---\n# How long tiles last\n",
}
REPLIES = (
    {"task": "What did we decide", **call("search_vault", query="roof")},
    {"task": "What did we decide", **call("vault_read", path="house/roof.md")},
    {"task": "What did we decide", "text": "Slate, not tiles: see [[house/roof]]. Two things are open:\n\n"
     "1. choose one of the offers by Friday;\n2. tell Ana.\n"},
    {"task": "Note that the roofer", **call("vault_append", path="house/roof.md", text="- the roofer comes on Monday")},
    {"task": "Note that the roofer", "text": "It is in [[house/roof]]."},
    {"task": "From now on", **call("vault_edit", path="AGENT.md", old="Be brief.", new="Be brief; name the price.")},
    {"task": "From now on", "text": "I will."},
    {"task": "Which offer", **call("human_ask", question="Which offer shall I take?", options=["Meyer", "Sons & Co"])},
    {"task": "Which offer", "text": "Good."},
)  # fmt: skip
ASKED = ("What did we decide about the roof?", "Note that the roofer comes on Monday.",
         "From now on, name the price of things.", "Which offer is the better one?")  # fmt: skip


def png(width: int, height: int, colour: tuple[int, int, int] = (90, 120, 140)) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def live_a_little(house: House) -> None:
    """Ask a few things, remember two, raise a notice, edit a note by hand."""
    workspace = house.workspace
    (house.root / "house/roof.png").write_bytes(png(480, 200))
    remember_two(house)
    for task in ASKED:
        house.ask(task)
    ledger, now = open_ledger(workspace), workspace.clock.now()
    raised = NoticeRaised("task_due", 0.8, "Call the roofer by Friday", ("From house/roof.",), "house/roof.md")
    ledger.add(workspace.clock.new_id(), raised, NoticeDecision("held", "quiet", now + timedelta(hours=6)), "daily")
    with workspace.vault.transaction("paint: a second coat", Stamp("human")) as change:
        before = workspace.vault.read("paint.md") or b""
        change.edit("paint.md", before, before + b"\nTwo coats.\n")
    house.until(lambda: not house.live.pool.state.running, "nothing is at work")


def remember_two(house: House) -> None:
    for text in ("The spare key is with Ana", "I take my tea green, without sugar"):
        remember(house.workspace.vault, text)


def addresses(house: House) -> list[str]:
    """The addresses of all pages, each with something on it."""
    talk = re.findall(r"/talk/[^\"]+", house.fetch("/"))[-1]
    commit = next(each.id for each in commits(house.workspace.vault, path="paint.md", limit=1))
    return [
        "/", "/needs", "/today", f"/changes/{commit}", house.asked[0], talk, "/notes",
        "/notes?q=roof", "/notes?folder=house",
        "/notes/house/roof.md", "/backlinks/paint.md", "/history/paint.md", "/status",
        "/tasks", "/tasks/new", "/tasks/slate", "/tasks/tiles",
        "/jobs", "/jobs?span=week", "/jobs/morning", "/new-job", "/jobs/edit/morning",
        "/job-preview?when=daily%20at%208", "/job-preview?when=never", "/profile",
        "/edit/house/roof.md", "/find", "/find?q=roof", "/settings/models", "/capture",
        "/memory", "/memory?q=tea", "/memory/forget", "/memory/forget?name=tea",
        "/skills", "/skills?task=Plan%20my%20day", "/skills/daily-planning", "/skills/offers",
        "/settings", "/settings?all=yes", "/browsers", "/sync", "/metrics", "/metrics?days=90",
        "/documentation", "/documentation/jobs",
        "/graph", "/graph?text=roof", "/graph/notes", "/graph/notes?text=nothing%20like%20it",
    ]  # fmt: skip
