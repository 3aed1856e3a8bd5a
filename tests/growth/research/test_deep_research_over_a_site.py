"""Deep research over a site with planted contradictions: all cited, contradictions shown, and the budget
kept. The small size runs in each check, the site of 300 pages behind `-m chaos`."""

import re
from pathlib import Path

import pytest

from agent.growth.research.claims import checked
from agent.growth.research.research_note import marks_in
from tests.growth.research.study import page, studying, usual
from tests.tools.sites import Answer

TOPIC = "Depths of the lakes"
LAKES = ("Varn", "Ulmen", "Tyrisk", "Ronesse", "Askvar", "Brelle")


def site_of(count: int) -> dict[str, Answer]:
    """Pages about six lakes. Of each lake one page in five gives another depth than the others."""
    pages: dict[str, Answer] = {}
    for number in range(count):
        lake = LAKES[number % len(LAKES)]
        depth = 100 + 10 * (number % len(LAKES)) + (7 if number // len(LAKES) % 5 == 1 else 0)
        pages[f"http://{lake.lower()}{number}.example/lake-{lake.lower()}-depth"] = page(
            f"Lake {lake}, page {number}",
            f"Lake {lake} is {depth} metres deep.",
            "It is cold in winter.",
            "Boats are few.",
        )
    return pages


QUESTIONS = tuple(f"How deep is Lake {lake}? | lake {lake.lower()} depth" for lake in LAKES)


def researched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    with studying(tmp_path, monkeypatch, site_of(count), usual("metres", *QUESTIONS)) as study:
        found = study.go(TOPIC, "deep")
        note = study.made.text(found.path)
        fetched, queries = study.web.fetched, study.web.queries
    assert found.end == "done" and found.calls <= 50 and len(fetched) + len(queries) <= found.calls
    assert len(fetched) == len(set(fetched)) and len(queries) == len(set(queries)), "nothing is fetched twice"
    assert found.findings.report is not None
    readings = {each.number: each for each in found.sources}
    again = checked(found.findings.report.text, readings, marks_in("en"))
    assert again.sentences and not again.flawed, "each sentence has a source and its figures"
    disputed = note.partition("### Disputed")[2].partition("\n### ")[0]
    read = {lake: set(re.findall(rf"Lake {lake} is (\d+) metres deep", note)) for lake in LAKES}
    planted = [lake for lake, depths in read.items() if len(depths) > 1]
    assert planted, "both sides of a planted contradiction were read"
    for lake in planted:
        assert read[lake] <= set(re.findall(rf"Lake {lake} is (\d+) metres deep", disputed)), lake


def test_a_small_site_is_researched_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    researched(tmp_path, monkeypatch, 36)


@pytest.mark.chaos
def test_a_site_of_300_pages_is_researched_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    researched(tmp_path, monkeypatch, 300)
