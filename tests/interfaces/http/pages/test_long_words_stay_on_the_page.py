"""Names and words without a blank, as long as a file's name may be: no page gets wider than its window."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.interfaces.http.pages.house import House, open_house, signed_in
from tests.interfaces.http.pages.lived import LIVED, REPLIES, addresses, live_a_little

WORD = "Donaudampfschifffahrtsgesellschaft" * 5
TEXT = f"# {WORD}\n\n{WORD}\n"
HAN = "没有任何空格的很长的名字" * 12
LONG = {
    f"{WORD}.md": f"---\n{WORD}: {WORD}\ntags: [{WORD}]\n---\n# {WORD}\n\n#{WORD} {WORD} `{WORD}` [[{WORD}]]\n\n"
    f"| {WORD} | {WORD} |\n|---|---|\n| {WORD} | {WORD} |\n\n- [ ] {WORD} [{WORD}](https://example.org/{WORD})\n",
    f"{WORD}/{HAN[:60]}.md": f"# {HAN}\n\n{HAN} [[{WORD}]] [[roof]]\n",
    f"jobs/{WORD}.md": f'---\ntype: job\non: {{every: "5h"}}\nrun_on: {WORD}\n---\n{TEXT}',
    f"jobs/b{WORD}.md": f"---\ntype: job\non: {{cron: {WORD}}}\n---\n{TEXT}",
    f"tasks/{WORD}.md": f"---\ntype: task\nid: {WORD}\ntask_type: explore_topic\ndue: 2099-01-05 09:00\n---\n{TEXT}",
    f"tasks/b{WORD}.md": f"---\ntype: task\nid: b\ntask_type: {WORD}\n---\n{TEXT}",
    "skills/long/SKILL.md": f"---\nname: long\ndescription: {WORD}\n---\n{TEXT}",
    f"profile/topics/{WORD}.md": f"---\ntype: profile\nlayer: 3\ntitle: {WORD}\n---\n{TEXT}\n- **{WORD}**: {WORD}\n",
    f"questions/{WORD}.md": f"---\ntype: question\nid: q\nstatus: open\n---\n{TEXT}\n- [ ] {WORD}\n- [ ] {HAN}\n",
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("long"), {**LIVED, **LONG}, *REPLIES) as found:
        live_a_little(found)
        yield found


def test_no_page_is_wider_than_its_window(browser: Browser, house: House) -> None:
    wrong = []
    with signed_in(browser, house, 360) as seen:
        asked = (
            f"/notes/{WORD}.md", f"/notes?folder={WORD}", f"/notes?q={WORD}", f"/jobs/{WORD}", f"/tasks/{WORD}",
            f"/profile/{WORD}.md", f"/history/{WORD}.md", f"/memory?q={WORD}", f"/memory/forget?name={WORD}",
            "/skills/long", f"/skills?task={WORD}", f"/graph?folder={WORD}", f"/{WORD}", f"/today?day={WORD}",
        )  # fmt: skip
        for address in (*addresses(house), *asked):
            seen.page.goto(house.url + address)
            for width in (360, 1280):
                seen.page.set_viewport_size({"width": width, "height": 900})
                over = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                wrong += [f"{address} is {over} pixels too wide at {width}"] if over > 0 else []
    assert wrong == []
