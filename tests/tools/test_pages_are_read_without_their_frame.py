"""The reader of web pages over twenty pages of many kinds: the page's own text, and hardly anything else."""

import sys

import pytest

from agent.attachments.html.page import read_page
from tests.tools.page_table import Sample, ours, samples, score, table, trafilatura

BASE = "https://example.org/2026/page"


def sample(name: str) -> Sample:
    return next(each for each in samples() if each.name.endswith(name))


@pytest.mark.parametrize("each", samples(), ids=lambda each: each.name)
def test_nothing_of_the_pages_own_text_is_lost(each: Sample) -> None:
    found = score(ours(each.html), each.text)
    assert found.recall >= 0.98, ours(each.html)
    assert found.precision >= 0.75, ours(each.html)


def test_the_table_of_pages() -> None:
    """`pytest -s` shows the table, beside another reader where that is installed."""
    other = trafilatura()
    shown = table({"ours": ours, **({"trafilatura": other} if other else {})})
    sys.stdout.write(f"\n{shown}\n")
    assert float(shown.splitlines()[-1].split()[1]) >= 0.96


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("docs", "| Setting | Default | Most |\n| --- | --- | --- |\n| `lease` | 30 s | 12 h |"),
        ("docs", "```\nimport tinyq\n\nwith tinyq.open(\"jobs.q\") as q:\n    message = q.take(lease=30)\n"),
        ("api", "```bash\ncurl -X POST https://api.example.org/v2/invoices \\\n  -d customer=c_19 -d due_days=30\n```"),
        ("question", "```bash\nawk 'END { print NR }' file.txt\n```"),
        ("encyclopaedia", "| Area | 61.2 km² |"),
        ("old-homepage", "| Valve | Anode, measured |\n| --- | --- |\n| ECC85 | 195 V |"),
    ],
)  # fmt: skip
def test_tables_and_code_keep_their_form(name: str, rows: str) -> None:
    assert rows in ours(sample(name).html)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("01-news", ("cookie", "Share on", "swans", "morning letter", "Ferry carried", "Weather")),
        ("02-blog", ("Tweet", "three flours", "cheap pans", "On ovens", "Previous")),
        ("06-chinese-news", ("体育", "林小雨", "微信", "上一篇", "三问", "菜价", "转载")),
        ("08-chinese-old-table", ("招生就业", "下载中心", "打印本页", "版权所有")),
        ("14-press", ("Careers", "Halden", "cookies")),
        ("20-app", ("privacy", "Coffee", "Terms", "JavaScript")),
    ],
)
def test_what_frames_a_page_is_left_out(name: str, words: tuple[str, ...]) -> None:
    text = ours(sample(name).html)
    assert [word for word in words if word in text] == []


@pytest.mark.parametrize(
    "name", ["01-news", "03-docs", "08-chinese-old-table", "14-press", "18-chinese-encyclopaedia", "10-question"]
)
def test_the_title_stands_once(name: str) -> None:
    each = sample(name)
    title = each.text.splitlines()[0]
    page = read_page(each.html, BASE)
    assert page.title == title
    assert [line for line in page.text.splitlines() if line.startswith("#") and title in line] == [f"# {title}"]


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("01-news", "2026-03-14"),
        ("02-blog", "2025-11-02"),
        ("06-chinese-news", "2026-04-18"),
        ("07-chinese-account", "2026-06-03"),
        ("08-chinese-old-table", "2026-05-08"),
        ("12-paper", "2026-05-02"),
        ("15-recipe", "2025-10-10"),
        ("17-release-notes", "2026-01-12"),
        ("20-app", "2026-04-03"),
        ("09-old-homepage", ""),
    ],
)
def test_a_page_says_when_it_was_written(name: str, day: str) -> None:
    assert read_page(sample(name).html, BASE).date == day


@pytest.mark.parametrize(
    ("html", "day"),
    [
        ("<meta property='article:published_time' content='2026-13-45'><p>x", ""),
        ("<meta name=date content='yesterday'><time datetime='2024-02-29'>then</time>", "2024-02-29"),
        ("<p>Updated on March 3, 2025 by Ann", "2025-03-03"),
        ("<p>In 1999 and on 3 May 2001 they met, it is said, in a long sentence that is no byline." + " word" * 30, ""),
    ],
)
def test_a_date_that_is_none_is_not_taken(html: str, day: str) -> None:
    assert read_page(html, "https://example.org/").date == day


def test_the_address_may_have_the_day() -> None:
    assert read_page("<p>x", "https://example.org/2024/05/06/story").date == "2024-05-06"


def test_a_page_about_cookies_keeps_its_text() -> None:
    story = "".join(f"<p>A cookie of kind {n} is accepted by browsers that use it for {n} days.</p>" for n in range(9))
    assert read_page(f"<main><h1>Cookies</h1>{story}</main>", BASE).text.count("is accepted by browsers") == 9


def test_a_class_on_the_whole_page_takes_nothing_away() -> None:
    story = "<p>A long and honest sentence about the sea, and its tides. </p>" * 9
    for name in ("sidebar-layout", "modal", "comments", "related", "share", "nav", "ads"):
        assert read_page(f"<div class='{name}'><h1>Sea</h1>{story}</div>", BASE).text.count("honest") == 9
        assert read_page(f"<form>{story}</form>", BASE).text.count("honest") == 9
