"""What a person sees of a search: hits with their lines, passages, filters, explanations, and days."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.errors import UserError
from agent.index.analysis import query_terms
from agent.index.arrays import Ints
from agent.index.embedder import EmbedderChoice
from agent.index.query import SearchResult, parse_query, without_filters
from agent.index.records import Filters
from agent.index.search import Searcher
from tests.bench.vault import MemoryVault
from tests.index.fakes import FAKE, FakeEmbedder

NOTES = {
    "work/kettle.md": b"---\nid: 01K\ntitle: The copper kettle\ntype: fact\nscope: user\n"
    b"tags: [home/kitchen]\ndate: 2026-03-04\n---\n"
    b"# Kettles\n\nThe kettle is in the kitchen.\n\n## Repair\n\nIt leaks at the seam.\nCall the tinker.\n",
    "work/garden.md": b"---\ntype: plan\ndate: 2026-05-01\nstatus: In progress\n---\n"
    b"Plant beans by the wall. #garden\n",
    "cats.md": b"The kitten sleeps all day.\n",
    "who.md": b"---\ntitle: The Who\naliases: [High Numbers]\n---\nA band.\n",
    "broken.md": b"---\n: [\n---\nstill readable porridge\n",
    "journal/2023-05-08.md": b"We talked about the picnic.\n",
    "journal/2023-09-01.md": b"We talked about the picnic again and the picnic food.\n",
    "long.md": b"\n".join(b"line %d about nothing" % number for number in range(60)) + b"\nthe hidden sapphire\n",
    "\xe7\x8c\xab.md".encode("latin1").decode("utf-8"): "猫喜欢睡觉。\n\n它讨厌吸尘器。\n".encode(),
}


@pytest.fixture(scope="module", name="searcher")
def make_searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return MemoryVault(dict(NOTES)).searcher(tmp_path_factory.mktemp("index"), "whoosh", FAKE)


def paths(answer: SearchResult) -> list[str]:
    return [hit.path for hit in answer.hits]


def test_a_hit_says_which_note_which_lines_and_what_stands_there(searcher: Searcher) -> None:
    hit = searcher.search("who repairs a leaking seam").hits[0]
    assert (hit.path, hit.title, hit.id) == ("work/kettle.md", "The copper kettle", "01K")
    assert "It leaks at the seam." in hit.passage
    lines = NOTES["work/kettle.md"].decode().split("\n")
    assert hit.passage == "\n".join(lines[hit.lines[0] - 1 : hit.lines[1]])
    assert hit.headings == ("Kettles", "Repair")
    assert hit.why == ()


def test_the_end_of_a_long_note_is_found_at_its_line(searcher: Searcher) -> None:
    hit = searcher.search("sapphire").hits[0]
    assert hit.path == "long.md"
    assert hit.lines[0] <= 61 <= hit.lines[1]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("copper", "work/kettle.md"),
        ("High Numbers", "who.md"),
        ("the who", "who.md"),
        ("garden", "work/garden.md"),
        ("porridge", "broken.md"),
        ("吸尘器", "猫.md"),
        ("猫 kettle 睡觉", "猫.md"),
        ("feline", "cats.md"),
    ],
)
def test_titles_aliases_tags_broken_headers_and_meaning_are_found(searcher: Searcher, text: str, path: str) -> None:
    assert paths(searcher.search(text))[0] == path


@pytest.mark.parametrize(
    "text", ["what happened at the picnic on 1 September 2023", "picnic 2023-09-01", "picnic 2023年9月1日"]
)
def test_a_day_in_the_question_reaches_the_note_of_that_day(searcher: Searcher, text: str) -> None:
    assert paths(searcher.search(text))[0] == "journal/2023-09-01.md"
    other = text.replace("1 September", "8 May").replace("09-01", "05-08").replace("9月1", "5月8")
    assert paths(searcher.search(other))[0] == "journal/2023-05-08.md"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path:work", {"work/kettle.md", "work/garden.md"}),
        ("path:work/g", {"work/garden.md"}),
        ("path:*/2023-*", {"journal/2023-05-08.md", "journal/2023-09-01.md"}),
        ("tag:home", {"work/kettle.md"}),
        ("tag:#home/kitchen", {"work/kettle.md"}),
        ("tag:garden", {"work/garden.md"}),
        ("type:plan", {"work/garden.md"}),
        ("scope:user type:fact", {"work/kettle.md"}),
        ("scope:user type:plan", set()),
        ('status:"in progress"', {"work/garden.md"}),
        ("after:2026-04", {"work/garden.md"}),
        ("before:2023-05", {"journal/2023-05-08.md"}),
        ("after:2023 before:2026-03-04", {"work/kettle.md", "journal/2023-05-08.md", "journal/2023-09-01.md"}),
    ],
)
def test_filters_alone_list_the_notes_and_with_text_bound_them(
    searcher: Searcher, text: str, expected: set[str]
) -> None:
    assert set(paths(searcher.search(text, 50))) == expected
    assert set(paths(searcher.search(f"{text} kettle picnic beans", 50))) <= expected
    if expected:
        assert paths(searcher.search(f"{text} kettle picnic beans", 50))


def test_what_only_looks_like_a_filter_is_searched_for(searcher: Searcher) -> None:
    assert paths(searcher.search("at 12:30 re:kettle"))[0] == "work/kettle.md"
    assert paths(searcher.search("the kettle, type: and tag:"))[0] == "work/kettle.md"


def test_a_day_that_is_none_is_the_persons_to_correct(searcher: Searcher) -> None:
    for text in ("after:yesterday kettle", "before:2023-13"):
        with pytest.raises(UserError):
            searcher.search(text)


@pytest.mark.parametrize("text", ["tag:", "tag: garden", 'roof tag:""', "before: May"])
def test_a_filter_without_a_value_is_the_persons_to_correct(searcher: Searcher, text: str) -> None:
    with pytest.raises(UserError, match="has no value") as error:
        searcher.search(text)
    assert "right behind the colon" in str(error.value.hint)


@pytest.mark.parametrize("text", ["tag: garden", "tag:garden", "After:", 'x type:"" y', "12:30 a:b", "path:tag:"])
def test_a_sentence_has_no_filters(text: str) -> None:
    query = parse_query(without_filters(text), frozenset("a"))
    assert query.filters == Filters()
    assert set(query.terms) >= set(query_terms(text.replace(":", " ")))


def test_passages_are_short_apart_and_the_best_first(searcher: Searcher) -> None:
    hits = searcher.search("line about nothing sapphire", 20, passages=True).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    shown = [(hit.path, line) for hit in hits for line in range(hit.lines[0], hit.lines[1] + 1)]
    assert len(shown) == len(set(shown))
    assert all(hit.lines[1] - hit.lines[0] < 4 for hit in hits if hit.path == "long.md")
    assert len([hit for hit in hits if hit.path == "long.md"]) > 1


def test_an_explanation_adds_up_to_the_score(searcher: Searcher) -> None:
    for passages in (False, True):
        for hit in searcher.search("kettle kitchen 2026-03-04", 3, explain=True, passages=passages).hits:
            assert {"note", "unit", "hood", "unit_cosine", "unit_match", "date"} <= {leg.name for leg in hit.why}
            if not passages:
                assert sum(leg.share for leg in hit.why) == pytest.approx(hit.score, abs=1e-4)
    best = searcher.search("kettle kitchen", 1, explain=True).hits[0].why
    assert {leg.rank for leg in best if leg.name == "note"} == {1}


def test_an_explanation_ranks_each_signal_among_the_candidates(searcher: Searcher) -> None:
    hits = searcher.search("the picnic in 2023 by the kitchen wall", explain=True).hits
    assert len(hits) > 2
    for name in (leg.name for leg in hits[0].why):
        legs = [leg for hit in hits for leg in hit.why if leg.name == name]
        above = [sum(other.score > leg.score for other in legs) for leg in legs]
        assert all(leg.rank > others for leg, others in zip(legs, above, strict=True)), name
        assert len({(leg.rank, leg.score) for leg in legs}) == len({leg.rank for leg in legs}), name


def test_nothing_asked_finds_nothing(searcher: Searcher) -> None:
    assert searcher.search("").hits == searcher.search("   ").hits == ()
    assert searcher.search("\x00 \ud800").degraded is None


UNSAVED = [
    ("work/said.md", b"---\ntype: fact\ndate: 2026-03-05\n---\nThe copper teapot is in the attic.\n"),
    ("said.md", b"The copper pan hangs by the stove.\n"),
]


@dataclass(frozen=True, slots=True)
class CountingEmbedder(FakeEmbedder):
    """A fake embedder that notes which texts were prepared."""

    prepared: list[str] = field(default_factory=list)

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        self.prepared.extend(texts)
        return FakeEmbedder.tokens(self, texts)


def test_unsaved_notes_count_like_saved_ones_and_are_prepared_once(tmp_path: Path) -> None:
    counting = CountingEmbedder()
    vault = MemoryVault(dict(NOTES))
    searcher = vault.searcher(tmp_path / "before", "whoosh", EmbedderChoice(counting))
    saved = MemoryVault({**NOTES, **dict(UNSAVED)}).searcher(tmp_path / "after", "whoosh", FAKE)
    counting.prepared.clear()
    texts = ("copper", "copper path:work/", "copper type:fact", "copper after:2026-03-05", "copper path:journal/")
    for text in texts:
        assert paths(searcher.search(text, unsaved=UNSAVED)) == paths(saved.search(text)), text
    assert counting.prepared.count("The copper teapot is in the attic.") == 1
    changed = [*UNSAVED[:1], ("said.md", b"The tin pan hangs by the stove.\n")]
    assert searcher.search("copper pan", unsaved=UNSAVED).hits[0].passage == "The copper pan hangs by the stove."
    assert searcher.search("copper pan", unsaved=changed).hits[0].passage != "The copper pan hangs by the stove."
    assert not {path for path, _ in UNSAVED} & set(paths(searcher.search("copper pan")))
