"""Links to headings and blocks, footnotes, formulas and folded callouts of a note, as HTML that does nothing."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent.interfaces.http.pages.markdown import html_of
from agent.vault.note_names import NoteNames

NAMES = NoteNames.of(["house/roof.md", "walls.md"])
ASKED = cast(Any, SimpleNamespace(text=str))


def shown(body: str, names: NoteNames | None = NAMES) -> str:
    return str(html_of(ASKED, "walls.md", body, names))


@pytest.mark.parametrize(
    ("link", "place"),
    [
        ("[[roof#The slate: how old?]]", "/notes/house/roof.md#h-the-slate-how-old"),
        ("[[roof#House#Slate]]", "/notes/house/roof.md#h-slate"),
        ("[[roof#^claim]]", "/notes/house/roof.md#b-claim"),
        ("[[#Slate|here]]", "#h-slate"),
        ("[x](house/roof.md#slate)", "/notes/house/roof.md#h-slate"),
        ("[[#石板]]", "#h-%E7%9F%B3%E6%9D%BF"),
    ],
)
def test_a_link_to_a_heading_or_block_leads_there(link: str, place: str) -> None:
    assert f'href="{place}"' in shown(link)


def test_headings_and_blocks_can_be_reached_and_take_no_name_of_the_page() -> None:
    found = shown(
        "# main\n\n## Slate\n\n## Slate\n\nIt holds. ^claim\n\n- tight ^item\n- other\n\n| a |\n|---|\n\n^table\n"
    )
    assert re.findall(r'<(\w+) id="([^"]+)"', found) == [
        ("h1", "h-main"), ("h2", "h-slate"), ("p", "b-claim"), ("li", "b-item"), ("p", "b-table"),
    ]  # fmt: skip
    assert "^" not in found
    assert "id=" not in shown("# One of many texts on a page\n", None)


def test_footnotes_stand_below_with_their_links() -> None:
    found = shown("Slate[^1] is old^[as [[roof]] says].\n\n[^1]: From Wales.\n")
    ids = re.findall(r'id="(fn[^"]+)"', found)
    assert len(ids) == 4 and all(f'href="#{each}"' in found for each in ids)
    assert "From Wales." in found and 'href="/notes/house/roof.md"' in found


def test_formulas_are_mathml_and_money_is_money() -> None:
    found = shown("$\\frac{a}{b} < c$ costs $5 and $6, or $5-$7.\n\n$$\nx^2\n$$\n")
    assert "<mfrac>" in found and "<mo>&lt;</mo>" in found and 'display="block"' in found
    assert "costs $5 and $6, or $5-$7." in found


@pytest.mark.parametrize(
    "latex",
    [
        "\\text{<script>alert(1)</script>}",
        "\\href{javascript:alert(1)}{x}",
        "\\text{&lt;img src=x onerror=alert(1)&gt;}",
        "\\class{a}{\\style{color:red}{x}}",
        "{" * 900 + "x" + "}" * 900,
        "x_a_b",
        "x" * 3_000,
    ],
)
def test_a_formula_does_nothing(latex: str) -> None:
    found = shown(f"A ${latex}$ B")
    tags = set(re.findall(r"<(/?[\w-]+)", found)) - {"p", "/p", "code", "/code"}
    assert all(each.strip("/").startswith("m") for each in tags)
    assert not re.search(r"<[^>]*(?:href|style|class|on\w+)=", found)


def test_callouts_fold_and_keep_what_is_in_them() -> None:
    found = shown(
        "> [!note]- Folded **title**\n> First.\n> - item\n\n> [!tip]+\n> Open.\n\n> [!warning] Plain\n> Text.\n"
    )
    assert re.findall(r"<(details|blockquote) class=\"callout callout-(\w+)\"( open)?", found) == [
        ("details", "note", ""), ("details", "tip", " open"), ("blockquote", "warning", ""),
    ]  # fmt: skip
    assert '<summary class="callout-title">Folded <strong>title</strong></summary>\n<p>First.</p>' in found
    assert found.count("<details") == found.count("</details>") == 2 and found.count("</blockquote>") == 1


def test_a_formula_takes_no_name_of_the_page() -> None:
    assert 'id="' not in shown("$$x^2$$ (boxes)\n")


def test_no_more_formulas_are_made_than_a_page_can_wait_for() -> None:
    found = shown("$x_1$ " * 20_000)
    assert 500 < found.count("<math") < 5_000 and found.endswith("<code>x_1</code> </p>\n".replace(" <", "<"))


def test_a_callout_titled_by_a_link_alone_has_that_title() -> None:
    assert re.search(r'callout-title">\s*<a [^>]*>roof</a></p>', shown("> [!note] [[roof]]\n> Text.\n"))
    assert 'callout-title">Note</p>' in shown("> [!note]\n> Text.\n")
