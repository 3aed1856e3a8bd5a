"""The graph: notes as points that can be moved, chosen and opened, by mouse and keys, and the same as a list."""

import json
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.interfaces.http.pages.foreign import named
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.interfaces.http.pages.scripts import scripts
from tests.interfaces.http.pages.test_foreign_text_runs_nothing import ran_a_dialog
from tests.stories.agents import NOTES

LINKED = {
    **NOTES,
    "house/roof.md": "---\ntags: [money]\n---\n# Roof\n\n[[paint]] [[beds]] [[walls]]\n",
    "house/walls.md": "# Walls\n\n[[paint]]\n",
    "paint.md": "# Paint\n\n#money/spent\n",
    "garden/beds.md": "# Beds\n",
    "garden/a #1 100%?.md": "# An odd name\n\n[[beds]]\n",
    "jobs/morning.md": '---\ntype: job\non: {cron: "30 7 * * *"}\n---\n# Morning\n\n[[paint]]\n',
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("graph"), LINKED) as found:
        yield found


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    before = house.reports()
    with signed_in(browser, house) as seen:
        yield seen.page
        assert seen.problems == [] and house.reports() == before


def drawn(page: Page, address: str) -> int:
    """The number of notes in the picture, once they stand still."""
    page.goto(address)
    expect(page.locator("#graph[data-still]")).to_be_attached()
    return int(page.locator("#graph").get_attribute("data-notes") or 0)


def listed(page: Page) -> list[str]:
    expect(page.locator("#graph-notes .small").first).to_be_visible()
    shown = page.locator("#graph-notes ul a").evaluate_all("(all) => all.map((each) => each.pathname)")
    return [unquote(str(each)).removeprefix("/notes/") for each in shown]


def test_all_notes_are_drawn_and_listed(page: Page, house: House) -> None:
    count = drawn(page, f"{house.url}/graph")
    assert listed(page)[0] in {"house/roof.md", "paint.md"} and len(listed(page)) == count >= 7
    expect(page.locator("#graph-notes")).to_contain_text("3 links")
    expect(page.locator("#graph canvas")).to_have_count(1)


@pytest.mark.parametrize(
    ("query", "shown", "in_picture"),
    [
        ("text=roof&near=no", ["house/roof.md"], 1),
        ("text=ROOF", ["house/roof.md"], 4),
        ("folder=house&near=no", ["house/roof.md", "house/walls.md"], 2),
        ("tag=money&near=no", ["house/roof.md", "paint.md"], 2),
        ("tag=%23money/spent&near=no", ["paint.md"], 1),
        ("text=morning&whose=own", [], 0),
        ("text=no%20such%20note", [], 0),
    ],
)
def test_a_filter_chooses(page: Page, house: House, query: str, shown: list[str], in_picture: int) -> None:
    assert drawn(page, f"{house.url}/graph?{query}") == in_picture
    assert sorted(listed(page)) == shown
    if not shown:
        expect(page.get_by_text("No note fits this filter.")).to_be_visible()
        expect(page.get_by_text("Choose fewer filters.")).to_be_visible()


def test_the_form_filters_and_shows_what_was_chosen(page: Page, house: House) -> None:
    drawn(page, f"{house.url}/graph")
    page.get_by_label("In the name").fill("o")
    page.get_by_label("Folder").select_option("house")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/graph?text=o&folder=house*")
    expect(page.get_by_label("Folder")).to_have_value("house")
    expect(page.get_by_label("In the name")).to_have_value("o")
    expect(page.locator("#graph-tags option[value='money']")).to_be_attached()
    buttons = [page.get_by_role("button", name="Show"), page.get_by_role("link", name="Show all")]
    assert len({box["y"] for each in buttons if (box := each.bounding_box())}) == 1, "they stand side by side"
    page.get_by_role("link", name="Show all").click()
    page.wait_for_url(f"{house.url}/graph")


def test_keys_go_from_note_to_note_and_open_one(page: Page, house: House) -> None:
    drawn(page, f"{house.url}/graph")
    page.locator("#graph").focus()
    seen = set()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        seen.add(page.locator("#graph-at").inner_text())
    assert len(seen) >= 2 and all(" · " in each and each.endswith(".md") for each in seen)
    for key in ("+", "-", "0"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    expect(page.locator("#graph-at")).to_have_text("\u00a0")
    page.keyboard.press("ArrowRight")
    path = page.locator("#graph-at").inner_text().rpartition(" · ")[2]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/notes/{quote(path)}")


def test_a_click_opens_the_note_below_the_pointer_and_a_drag_opens_none(page: Page, house: House) -> None:
    drawn(page, f"{house.url}/graph?text=odd&near=no&folder=none")
    drawn(page, f"{house.url}/graph?text=%23&near=no")
    box = page.locator("#graph").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + 2, y)
    expect(page.locator("#graph-at")).to_contain_text("a #1 100%?")
    page.mouse.down()
    page.mouse.move(x + 60, y + 10, steps=5)
    page.mouse.up()
    assert "/graph" in page.url
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    expect(page.locator("#graph-at")).to_have_text("\u00a0")
    page.mouse.move(x + 60, y + 11)
    expect(page.locator("#graph-at")).to_contain_text("a #1 100%?")
    page.mouse.click(x + 60, y + 11)
    page.wait_for_url(f"**/notes/{quote('garden/a #1 100%?.md')}")
    expect(page.get_by_role("heading", name="An odd name")).to_be_visible()


def test_the_list_shows_its_note_in_the_picture(page: Page, house: House) -> None:
    drawn(page, f"{house.url}/graph")
    page.locator("#graph-notes a[href='/notes/garden/beds.md']").focus()
    expect(page.locator("#graph-at")).to_contain_text("garden/beds.md")


def test_a_new_note_is_drawn_while_the_page_is_open(page: Page, house: House) -> None:
    count = drawn(page, f"{house.url}/graph")
    (house.root / "gutter.md").write_text("# Gutter\n\n[[roof]]\n")
    expect(page.locator("#graph")).to_have_attribute("data-notes", str(count + 1))
    expect(page.locator("#graph-notes a[href='/notes/gutter.md']")).to_be_visible()
    expect(page.locator("#graph canvas")).to_have_count(1)


def test_without_scripts_there_is_the_list(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        cookies = seen.context.cookies()
    context = browser.new_context(java_script_enabled=False)
    kept = [{"name": each["name"], "value": each["value"], "url": house.url} for each in cookies]
    context.add_cookies(kept)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{house.url}/graph?text=roof")
    page.get_by_role("link", name="The same as a list").click()
    page.wait_for_url("**/graph/notes?text=roof")
    page.get_by_role("link", name="roof").first.click()
    page.wait_for_url("**/notes/house/roof.md")
    context.close()


def test_a_server_that_fails_is_told(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        seen.page.route("**/graph/data*", lambda route: route.fulfill(status=500, body="{}"))
        seen.page.goto(f"{house.url}/graph")
        expect(seen.page.get_by_text("The links cannot be read now")).to_be_visible()


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.chaos)])
@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.chaos)])
def test_many_notes_come_to_rest_and_the_page_goes_on_answering(
    browser: Browser, house: House, count: int, width: int
) -> None:
    chance = random.Random(1)
    edges = [end for one in range(1, count) for end in (one, chance.randrange(one)) for _ in (0,)]
    many = {"paths": [f"notes/n{number}.md" for number in range(count)], "links": [2] * count,
            "matches": [1] * count, "edges": edges, "notes_left": 0, "links_left": 0}  # fmt: skip

    def answer(route: Route) -> None:
        route.fulfill(status=200, body=json.dumps(many), content_type="application/json")

    with signed_in(browser, house, width, height=700) as seen:
        seen.page.route("**/graph/data*", answer)
        seen.page.goto(f"{house.url}/graph")
        expect(seen.page.locator("#graph")).to_have_attribute("data-notes", str(count))
        seen.page.locator("#graph").focus()
        seen.page.keyboard.press("ArrowRight")
        expect(seen.page.locator("#graph-at")).to_contain_text("notes/n")
        seen.page.locator("#graph[data-still]").wait_for(state="attached", timeout=90_000)
        assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert seen.problems == []


@pytest.mark.parametrize("count", [50, pytest.param(500, marks=pytest.mark.chaos)])
def test_names_and_tags_of_strangers_run_nothing(browser: Browser, tmp_path: Path, count: int) -> None:
    texts = list(scripts(count))
    notes = {f"foreign/{name}": f"---\ntags: {json.dumps([text])}\n---\n{text}\n[[tea]]\n"
             for text in texts if (name := named(text))}  # fmt: skip
    with open_house(tmp_path, {**NOTES, **notes}) as house, signed_in(browser, house) as seen:
        page = seen.page
        page.on("dialog", partial(ran_a_dialog, seen))
        assert drawn(page, f"{house.url}/graph") > len(notes)
        page.locator("#graph").focus()
        for key in ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"] * 6:
            page.keyboard.press(key)
        box = page.locator("#graph").bounding_box()
        assert box is not None
        for step in range(40):
            page.mouse.move(box["x"] + box["width"] * (step % 8) / 8, box["y"] + box["height"] * step / 40)
        fields = ("text", "folder", "tag", "near", "whose")
        for number, text in enumerate(texts[:: max(1, count // 12)]):
            for field in fields if count > 50 else fields[number % 5 :][:1]:  # each twice, or each with each
                page.goto(f"{house.url}/graph?{field}={quote(text[:200])}")
            page.goto(f"{house.url}/graph/notes?text={quote(text[:60])}")
        assert seen.ran == [] and house.reports() == 0
        assert [each for each in seen.problems if "status of 4" not in each] == []


def test_what_is_sent_has_a_size_that_is_bounded(house: House) -> None:
    data = json.loads(house.fetch("/graph/data"))
    assert len(data["paths"]) == len(data["links"]) == len(data["matches"]) and len(data["edges"]) % 2 == 0
    assert max(data["edges"]) < len(data["paths"])
    assert json.loads(house.fetch(f"/graph/data?text={'x' * 5_000}&folder=%ff"))["paths"] == []
