"""Pictures that lie in the vault are shown where a note has them; nothing else is served, nothing from elsewhere."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from agent.interfaces.http.door.browsers import load_token
from agent.vault.pictures import LARGEST
from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.interfaces.http.pages.lived import png
from tests.stories.agents import NOTES

NOTE = """# The roof

![[roof.png]]

![The plan|120](../plans/ground%20floor.png) and ![](<../plans/ground floor.png>)

![[roof.png|60x30]] ![[drawing.svg]] ![far](https://example.org/far.png) ![[nowhere.png]] ![x](javascript:ran())
"""
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    notes = {**NOTES, "house/roof.md": NOTE, "passage.md": "Seen: ![[roof.png]]\n"}
    with open_house(tmp_path_factory.mktemp("pictures"), notes) as found:
        root = found.root
        for path, data in {
            "house/roof.png": png(80, 40),
            "plans/ground floor.png": png(200, 100),
            "house/drawing.svg": DRAWING.encode(),
            "wrong.png": b"<script>alert(1)</script>",
            "photo.png": b"\xff\xd8\xff\xe0 a JPEG by another name",
            ".obsidian/theme.png": png(1, 1),
            ".hidden/x.png": png(1, 1),
            "large.png": png(1, 1) + bytes(LARGEST),
            "ignored/secret.png": png(3, 3),
            "secret.txt": b"not for a page",
        }.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(data)
        (root.parent / "outside.png").write_bytes(png(2, 2))
        (root / "link.png").symlink_to(root.parent / "outside.png")
        (root / "linked").symlink_to(root.parent)
        (root / "other").mkdir()
        subprocess.run(["git", "init", "-q", root / "other"], check=True)
        (root / "other/own.png").write_bytes(png(2, 2))
        (root / ".git/x.png").write_bytes(png(1, 1))
        (root / ".git/info/exclude").write_text("ignored/\n")
        yield found


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    data: bytes


def get(house: House, path: str, *, signed: bool = True, **headers: str) -> Answer:
    """What the server answers to exactly this path."""
    place = urlsplit(house.url)
    token = {"Authorization": f"Bearer {load_token(house.workspace)}"} if signed else {}
    sent = {**token, **{name.replace("_", "-"): each for name, each in headers.items()}}
    with closing(HTTPConnection(place.hostname or "", place.port or 0, timeout=30)) as connection:
        connection.request("GET", path, headers=sent)
        with connection.getresponse() as found:
            return Answer(found.status, {name.lower(): each for name, each in found.getheaders()}, found.read())


def test_pictures_are_shown_and_what_is_elsewhere_is_a_link(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page, asked = seen.page, list[str]()
        page.on("request", lambda sent: asked.append(sent.url))
        page.goto(f"{house.url}/notes/house/roof.md")
        pictures = page.locator(".prose img")
        expect(pictures).to_have_count(4)
        page.evaluate("Promise.all([...document.images].map((each) => each.decode()))")
        sizes = page.evaluate("[...document.images].map((each) => [each.naturalWidth, each.width, each.loading])")
        assert sizes == [[80, 80, "lazy"], [200, 120, "lazy"], [200, 200, "lazy"], [80, 60, "lazy"]]
        assert page.locator(".prose img").nth(1).get_attribute("alt") == "The plan"
        expect(page.locator("a.picture[download]")).to_have_text("drawing.svg")
        expect(page.locator("a.outside")).to_have_attribute("href", "https://example.org/far.png")
        expect(page.locator("a.missing")).to_have_attribute("href", "/notes?q=nowhere.png")
        with page.expect_download() as kept:
            page.get_by_role("link", name="drawing.svg").click()
        assert Path(kept.value.path()).read_text() == DRAWING
        assert all(url.startswith(house.url) for url in asked)
        assert seen.problems == [] and seen.ran == [] and house.reports() == 0


def test_a_passage_and_a_page_of_the_picture_itself_show_it(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/notes?q=Seen")
        expect(page.locator("article img").first).to_be_visible()
        assert page.locator("article img").first.evaluate("(each) => each.decode().then(() => each.naturalWidth)") == 80
        page.goto(f"{house.url}/pictures/house/roof.png")
        expect(page.locator("img")).to_have_count(1)
        page.goto(f"{house.url}/pictures/nowhere.png")
        expect(page.get_by_text("there is no picture nowhere.png")).to_be_visible()


def test_a_picture_has_its_type_a_sandbox_and_a_tag(house: House) -> None:
    found = get(house, "/pictures/house/roof.png")
    assert (found.status, found.data) == (200, png(80, 40))
    head = found.headers
    assert head["content-type"] == "image/png" and head["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in head["content-security-policy"] and "sandbox" in head["content-security-policy"]
    assert head["cross-origin-resource-policy"] == "same-origin" and head["content-disposition"].startswith("inline")
    assert get(house, "/pictures/house/roof.png", If_None_Match=head["etag"]).status == 304
    assert get(house, "/pictures/photo.png").headers["content-type"] == "image/jpeg"
    drawing = get(house, "/pictures/house/drawing.svg")
    assert drawing.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in drawing.headers["content-security-policy"]
    assert get(house, "/pictures/ignored/secret.png").status == 200, "as a note that git ignores can be opened"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("link.png", 400), ("linked/outside.png", 400), ("../outside.png", 400), ("..%2foutside.png", 400),
        ("%2fetc%2fpasswd.png", 400), (".git/x.png", 400), (".GIT/x.png", 400), (".obsidian/theme.png", 400),
        (".hidden/x.png", 400), ("other/own.png", 400), ("house", 400), ("house/roof.md", 400), ("secret.txt", 400),
        ("secret.txt%00.png", 400), ("wrong.png", 422), ("large.png", 422), ("nowhere.png", 404),
        ("house/roof.png/", 200), ("house/roof.png?from=../../x", 200), ("roof.png?from=", 200),
        ("house\\roof.png", 400), ("a" * 5_000 + ".png", 400),
    ],
)  # fmt: skip
def test_only_pictures_of_the_vault_are_served(house: House, path: str, status: int) -> None:
    found = get(house, f"/pictures/{path}")
    assert found.status == status, found.data[:500]
    if status != 200:
        assert not found.data.startswith(b"\x89PNG") and b"not for a page" not in found.data
        assert found.headers["content-type"].startswith("text/html")


def test_without_a_token_nothing_is_served(house: House) -> None:
    assert get(house, "/pictures/house/roof.png", signed=False).status == 401
