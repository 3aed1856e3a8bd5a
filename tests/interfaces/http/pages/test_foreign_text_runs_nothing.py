"""Promise 17 on pages: text of whatever origin, in whatever field, stays text: nothing runs, nothing is loaded."""

import json
import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Dialog

from agent.app.notices import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.errors import BadPath, UserError
from agent.events.notices import NoticeRaised
from agent.memory.remember import remember
from agent.vault.change import Stamp
from agent.vault.worktree.paths import check
from tests.interfaces.http.pages.house import House, Seen, open_house, signed_in
from tests.interfaces.http.pages.scripts import SHAPES, scripts
from tests.stories.agents import NOTES, call

_TOGETHER = 10
COUNT = pytest.mark.parametrize("count", [50, pytest.param(500, marks=pytest.mark.chaos)])


def note_of(texts: Sequence[str]) -> str:
    """A note with the texts as title, keys, values, headings and paragraphs."""
    header = "\n".join(f"{json.dumps(f'key {number} {text}')}: {json.dumps(text)}" for number, text in enumerate(texts))
    body = "\n\n".join(f"# {text.splitlines()[0]}\n\n{text}\n\n- {text.splitlines()[0]}" for text in texts)
    return f"---\ntitle: {json.dumps(texts[0])}\n{header}\ntags: {json.dumps(list(texts))}\n---\n{body}\n"


def named(text: str) -> str | None:
    """The text as the name of a note; None if no file can have it."""
    name = re.sub(r"[/\0\n\r]", " ", text)[:80].strip(" .") + ".md"
    try:
        check(name)
    except (BadPath, UserError):
        return None
    return name


def replies(texts: Sequence[str]) -> list[object]:
    """The script of runs whose tools and answers say the texts."""
    whole = "\n\n".join(texts)
    return [
        {"task": "read", **call("vault_read", path="foreign/0.md")},
        {"task": "read", **call("vault_read", path=texts[3][:80])},
        {"task": "read", "text": whole},
        {"task": "change", **call("vault_edit", path="AGENT.md", old="Be brief.", new=whole[:3_000])},
        {"task": "question", **call("human_ask", question=whole[:3_000], options=[text[:150] for text in texts[:8]])},
    ]


def fill(house: House, texts: Sequence[str], folder: str = "foreign") -> list[str]:
    """Put the texts into every field that a page shows; returns the addresses to look at."""
    vault, workspace = house.workspace.vault, house.workspace
    asked = [
        house.ask(f"{task} {text[:200]}") for task, text in zip(("read", "change", "question"), texts, strict=False)
    ]
    for text in texts[:: max(1, len(texts) // 12)]:
        remember(vault, text)
    ledger, now = open_ledger(workspace), workspace.clock.now()
    for text in texts:
        raised = NoticeRaised("task_due", 0.8, text, (text,), text)
        ledger.add(workspace.clock.new_id(), raised, NoticeDecision("held", "quiet", now + timedelta(hours=6)), "daily")
    with vault.transaction(texts[0], Stamp("agent", session=texts[1], tool="x"), body=texts[2]) as change:
        change.create(f"{folder}/commit.md", texts[4].encode())
    sessions = [path for path in vault.note_paths() if path.startswith(("sessions/", "approvals/", "questions/"))]
    notes = [path for path in vault.note_paths() if path.startswith((f"{folder}/", "entries/"))]
    several = [*sessions, *notes[: 3 * len(texts) // _TOGETHER + 20]]
    searches = [f"/notes?q={quote(text[:80])}" for text in texts[:: max(1, len(texts) // 8)]]
    head = vault.head or ""
    return [
        "/", "/today", "/ask", *asked, "/notes", f"/notes?folder={folder}/names",
        f"/notes?folder={quote(texts[1][:60])}",
        *searches, *(f"/notes/{quote(path)}" for path in several), f"/history/{folder}/0.md", f"/changes/{head}",
        f"/changes/{quote(texts[0][:60], safe='')}", "/status", "/memory", f"/memory?q={quote(texts[5][:60])}",
        f"/memory/forget?name={quote(texts[0][:60])}", f"/today?day={quote(texts[2][:60])}",
    ]  # fmt: skip


def ran_a_dialog(seen: Seen, dialog: Dialog) -> None:
    seen.ran.append(dialog.message)
    dialog.dismiss()


@COUNT
def test_foreign_text_runs_nothing(browser: Browser, tmp_path: Path, count: int) -> None:
    texts = list(scripts(count))
    notes = {f"foreign/{n // _TOGETHER}.md": note_of(texts[n : n + _TOGETHER]) for n in range(0, count, _TOGETHER)}
    notes |= {f"foreign/names/{name}": f"{text}\n" for text in texts if (name := named(text))}
    with open_house(tmp_path, {**NOTES, **notes}, *replies(texts)) as house:
        addresses = fill(house, texts)
        with signed_in(browser, house) as seen:
            asked_elsewhere: list[str] = []

            seen.page.on(
                "request", lambda sent: None if sent.url.startswith(house.url) else asked_elsewhere.append(sent.url)
            )
            seen.page.on("dialog", partial(ran_a_dialog, seen))
            for address in addresses:
                seen.page.goto(house.url + address)
                seen.page.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true })")
            assert seen.ran == []
            assert [each for each in asked_elsewhere if not each.startswith((house.url, "data:"))] == []
            assert [each for each in seen.problems if "status of 4" not in each] == []
            assert house.reports() == 0
        assert len(addresses) > 40


def test_every_shape_is_among_the_small_ones_or_the_large_ones() -> None:
    small, large = list(scripts(50)), list(scripts(500))
    assert len(set(small)) == 50 and len(large) == 500 and len(SHAPES) > 60


def test_a_page_that_let_markup_through_would_be_caught(browser: Browser, tmp_path: Path) -> None:
    with open_house(tmp_path, NOTES) as house, signed_in(browser, house) as seen:
        seen.page.goto(house.url)
        for text in scripts(len(SHAPES)):
            seen.page.evaluate("(text) => document.querySelector('main').insertAdjacentHTML('beforeend', text)", text)
        house.until(lambda: house.reports() > 5, "the browser has told of them")
        assert seen.ran == []
