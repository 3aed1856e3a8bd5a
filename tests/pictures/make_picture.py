"""Makes the picture of the dashboard on the README's first page, from a vault in which a few things have happened:

    python -m tests.pictures.make_picture

It needs Chromium (Debian: apt-get install chromium).
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import expect

from tests.interfaces.http.pages.house import open_browser, open_house, signed_in
from tests.interfaces.http.pages.lived import LIVED, REPLIES, live_a_little

PICTURE = Path(__file__).parents[2] / ".github" / "dashboard.png"
_WIDTH, _HEIGHT = 1080, 700


def make(path: Path) -> None:
    """Write the picture of the first page."""
    notes = {path: text for path, text in LIVED.items() if not path.startswith("skills/")}  # which would ask first
    with TemporaryDirectory() as folder, open_house(Path(folder), notes, *REPLIES) as house, open_browser() as browser:
        live_a_little(house)
        with signed_in(browser, house, _WIDTH, height=_HEIGHT) as seen:
            seen.page.goto(house.url)
            expect(seen.page.locator(".needed li")).to_have_count(2)
            seen.page.screenshot(path=str(path))


if __name__ == "__main__":
    make(PICTURE)
