"""What a phone, another page or the form shares is kept after a press of the button, as whose words it is."""

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from agent.interfaces.http.door.browsers import load_token
from agent.tools.text_origin import text_origin_of
from tests.interfaces.http.pages.house import House, open_house, signed_in


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("shared")) as found:
        yield found


def picture() -> bytes:
    """A PNG of one pixel."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def kept(house: House, words: str) -> list[Path]:
    """The notes in the inbox with these words."""
    return [each for each in (house.root / "inbox").glob("*.md") if words in each.read_text("utf-8")]


def test_words_and_a_picture_are_kept_on_the_width_of_a_phone(browser: Browser, house: House, tmp_path: Path) -> None:
    (tmp_path / "shop.png").write_bytes(picture())
    with signed_in(browser, house, 360) as seen:
        page = seen.page
        page.goto(f"{house.url}/capture")
        page.get_by_label("Your words").fill("The shop closes at six")
        page.get_by_label("Pictures and files").set_input_files(tmp_path / "shop.png")
        page.get_by_role("button", name="Keep", exact=True).click()
        expect(page.get_by_text("Kept:")).to_be_visible()
        (note,) = kept(house, "The shop closes at six")
        path = f"inbox/{note.name}"
        assert not text_origin_of(house.workspace.vault).source(path, note.read_bytes())
        assert len(list((house.root / "attachments").rglob("*shop.png"))) == 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert seen.problems == []


def test_the_bookmarklet_of_another_page_brings_it_here_and_keeps_nothing_by_itself(
    browser: Browser, house: House
) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/capture")
        link = page.get_by_role("link", name="Keep in the vault")
        code = str(link.get_attribute("href"))
        assert code.startswith("javascript:")
        other = seen.context.new_page()
        other.route("https://example.org/**", lambda route: route.fulfill(
            body="<title>The mill</title><p>It was built in 1890.</p>", content_type="text/html"))  # fmt: skip
        other.goto("https://example.org/mill")
        other.evaluate("getSelection().selectAllChildren(document.querySelector('p'))")
        with seen.context.expect_page() as opened:
            other.evaluate("(code) => (0, eval)(decodeURIComponent(code.slice('javascript:'.length)))", code)
        form = opened.value
        expect(form.get_by_label("Address of a page")).to_have_value("https://example.org/mill")
        expect(form.get_by_label("Title")).to_have_value("The mill")
        expect(form.get_by_label("A text from elsewhere")).to_have_value("It was built in 1890.")
        assert kept(house, "1890") == [], "a link keeps nothing"
        form.get_by_role("button", name="Keep", exact=True).click()
        expect(form.get_by_text("Kept:")).to_be_visible()
        (note,) = kept(house, "1890")
        assert "source: https://example.org/mill" in note.read_text("utf-8")


def cookies(browser: Browser, house: House) -> dict[str, str]:
    with signed_in(browser, house) as seen:
        return {str(each["name"]): str(each["value"]) for each in seen.context.cookies()}


def test_the_installed_page_is_a_target_to_share_with(browser: Browser, house: House) -> None:
    with signed_in(browser, house) as seen:
        page = seen.page
        page.goto(f"{house.url}/capture")
        found = page.evaluate("fetch('/manifest.webmanifest').then((each) => each.json())")
        target = found["share_target"]
        assert (target["action"], target["method"]) == ("/share", "POST")
        assert page.evaluate(f"fetch('{found['icons'][0]['src']}').then((each) => each.status)") == 200
        sent = {str(each["name"]): str(each["value"]) for each in seen.context.cookies()}
        files = {"files": ("voice.ogg", b"OggS", "audio/ogg")}
        fields = {"title": "A note", "text": "https://example.org/shared"}
        browsers_own = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Origin": "null"}
        answer = httpx.post(f"{house.url}/share", data=fields, files=files, headers=browsers_own, cookies=sent)
        assert answer.status_code == 303
        page.goto(house.url + answer.headers["location"])
        expect(page.get_by_text("voice.ogg")).to_be_visible()
        expect(page.get_by_label("Address of a page")).to_have_value("https://example.org/shared")
        assert kept(house, "example.org/shared") == [], "nothing is kept before the button is pressed"
        page.get_by_role("button", name="Keep", exact=True).click()
        expect(page.get_by_text("Kept:")).to_be_visible()
        assert len(kept(house, "example.org/shared")) == 1
        assert len(list((house.root / "attachments").rglob("*voice.ogg"))) == 1
        assert seen.problems == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "none", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
        {"Origin": "null"},
    ],
)
def test_no_other_page_can_share_or_keep(browser: Browser, house: House, headers: dict[str, str]) -> None:
    sent = cookies(browser, house)
    for path in ("/share", "/capture/keep"):
        answer = httpx.post(f"{house.url}{path}", data={"words": "evil words"}, headers=headers, cookies=sent)
        assert answer.status_code == 403, path
    own = {"Sec-Fetch-Site": "none", "Origin": "null"}
    assert httpx.post(f"{house.url}/capture/keep", data={"words": "x"}, headers=own, cookies=sent).status_code == 403
    assert httpx.post(f"{house.url}/share", data={"text": "x"}, headers=own).status_code == 401, "without a sign-in"
    assert kept(house, "evil words") == []


def test_what_was_shared_is_given_to_the_browser_that_shared_it_alone(browser: Browser, house: House) -> None:
    own = {"Sec-Fetch-Site": "none", "Origin": "null"}
    first, second = cookies(browser, house), cookies(browser, house)
    answer = httpx.post(f"{house.url}/share", data={"text": "only mine"}, headers=own, cookies=first)
    where = house.url + answer.headers["location"]
    assert "only mine" in httpx.get(where, cookies=first).text
    assert "only mine" not in httpx.get(where, cookies=second).text


def test_without_a_sign_in_nothing_is_shown_and_a_link_from_elsewhere_leads_on(house: House) -> None:
    form, given = f"{house.url}/capture", {"text": "<script>alert(1)</script>", "url": "https://example.org"}
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
    answer = httpx.get(form, params=given, headers=elsewhere)
    assert answer.status_code == 401 and "<script>" not in answer.text
    assert 'content="0; url=/capture?text=' in answer.text, "it comes back as our own page's, with the strict cookie"
    again = httpx.get(form, params=given, headers={**elsewhere, "Sec-Fetch-Site": "same-origin"})
    assert again.status_code == 401 and "http-equiv" not in again.text, "once"
    other = httpx.get(f"{house.url}/notes", headers=elsewhere)
    assert other.status_code == 401 and "http-equiv" not in other.text, "no other page"


def test_what_is_too_large_or_may_be_run_is_refused_and_nothing_is_kept(house: House) -> None:
    token = {"Authorization": f"Bearer {load_token(house.workspace)}"}
    bad = {"files": ("run.sh", b"rm -rf /", "text/x-sh")}
    answer = httpx.post(f"{house.url}/capture/keep", data={"words": "with a script"}, files=bad, headers=token)
    assert answer.status_code >= 400 and "programs may run" in answer.text
    large = {"files": ("a.png", b"\0" * 60_000_000, "image/png")}
    answer = httpx.post(f"{house.url}/capture/keep", data={"words": "large"}, files=large, headers=token)
    assert answer.status_code == 413
    assert kept(house, "with a script") == [] and kept(house, "large") == []
    assert json.loads(httpx.get(f"{house.url}/manifest.webmanifest", headers=token).text)["id"] == "/"


def test_files_that_wait_no_longer_are_not_left_out_silently(house: House) -> None:
    token = {"Authorization": f"Bearer {load_token(house.workspace)}"}
    fields = {"words": "with a lost picture", "share": "gone"}
    answer = httpx.post(f"{house.url}/capture/keep", data=fields, headers=token)
    assert answer.status_code >= 400 and "not here any more" in answer.text
    assert kept(house, "with a lost picture") == []
