"""A topic: an outline, its questions, gaps, and a report in which each sentence has a source that was read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.markdown.note import Note
from agent.memory.entry import MODEL, Entry, EntryType, parse_entry
from agent.vault.history.find import commits
from tests.growth.research.study import page, studying, usual

BRIDGE = {
    "http://arxiv.org/abs/bridge-cost": page(
        "Bridge cost", "The Varn bridge cost 18.4 million crowns, a study says.", date="2026-03-14"
    ),
    "http://varn.example/bridge-opening": page("Bridge opening", "The Varn bridge opened on 3 May 1998."),
    "http://other.example/bridge-opening-day": page("Bridge opening day", "The Varn bridge opened on 3 May 1996."),
}
QUESTIONS = ("What did the bridge cost? | bridge cost", "When was the opening? | bridge opening")


def test_a_report_has_its_sources_and_says_what_is_disputed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"walks.md": "# Walks\n\nI crossed the Varn bridge on foot in 2024, it took 9 minutes.\n"}
    with studying(tmp_path, monkeypatch, BRIDGE, usual("bridge", *QUESTIONS), notes=notes) as study:
        found = study.go("Varn bridge")
        note = Note.parse((study.made.root / found.path).read_bytes())
    assert found.end == "done" and found.calls <= 20 and found.path == "research/Varn bridge.md"
    assert {each.address for each in found.sources} == {*BRIDGE, "walks.md"}
    body = note.body
    assert "cost 18.4 million crowns, a study says. [" in body or "cost 18.4 million crowns, a study says [" in body
    disputed = body.partition("### Disputed")[2].partition("###")[0]
    assert "1998" in disputed and "1996" in disputed
    number = next(each.number for each in found.sources if "arxiv" in each.address)
    assert f"{number}. [Bridge cost](http://arxiv.org/abs/bridge-cost) — paper, 2026-03-14, confidence high" in body
    assert "[[walks]] — your note" in body
    assert note.strings("untrusted") and "arxiv.org" in str(note.strings("untrusted"))
    assert "no source" not in body.partition("### Sources")[0]


def test_a_research_does_not_rest_on_what_an_earlier_one_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a report would confirm itself: two sources say so, and both are the agent's own."""
    said = "The Varn bridge opened on 3 May 1998."
    made = [
        Entry(f"01HZZZZZZZ{number:016d}", datetime(2026, 11, 20, tzinfo=UTC), said, kind, source=MODEL)
        for number, kind in enumerate((EntryType.RESEARCH, EntryType.WORKFLOW_TRACE, EntryType.AUTO_CAPTURE))
    ]
    notes = {each.path: each.note().decode() for each in made}
    notes["walks.md"] = "# Walks\n\nI crossed the Varn bridge on foot in 2024.\n"
    with studying(tmp_path, monkeypatch, {}, usual("bridge", *QUESTIONS), notes=notes) as study:
        found = study.go("Varn bridge")
    assert [each.address for each in found.sources] == ["walks.md"]


def test_what_was_found_is_remembered_as_a_strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    think = usual("bridge", *QUESTIONS)

    def with_method(name: str, prompt: str) -> str:
        more = (
            "\nMETHOD: bridge — crosses water [1]\nMETHOD: Zorb — is in no source [1]" if name == "statements" else ""
        )
        return think(name, prompt) + more

    with studying(tmp_path, monkeypatch, BRIDGE, with_method) as study:
        found = study.go("Varn bridge")
        (path,) = (study.made.root / "entries").rglob("*.md")
        entry = parse_entry(path.read_bytes())
        commit = next(iter(commits(study.made.workspace.vault)))
        note = study.note("Varn bridge")
    assert "- **bridge**: crosses water" in note and "Zorb" not in note
    assert {each.path for each in commit.files} >= {"research/Varn bridge.md"}
    assert entry is not None and entry.source == "model" and entry.type == "research"
    assert entry.evidence == ("[[research/Varn bridge]]",) and len(entry.untrusted) == 3
    assert [each.name for each in found.findings.methods] == ["bridge"], (
        "a name that no source has is a model's invention"
    )
    assert commit.subject == "research(topic): Varn bridge" and commit.run == found.run


def test_a_sentence_without_a_source_is_marked_and_an_invented_figure_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    think = usual("bridge", *QUESTIONS)

    def careless(name: str, prompt: str) -> str:
        if name == "statements":
            return think(name, prompt) + "\n- The bridge is 77 metres high [1]\n- The bridge is made of cheese [9]"
        if name == "report":
            return think(name, prompt) + "\nEverybody loves it. It is 88 metres long [1]. Said [41]."
        return think(name, prompt)

    with studying(tmp_path, monkeypatch, BRIDGE, careless) as study:
        found = study.go("Varn bridge")
        note = study.note("Varn bridge")
    assert "Everybody loves it. *(no source)*" in note
    assert "It is 88 metres long [1]. *(a figure is not in the source)*" in note
    assert "[41]" not in note and "77 metres" not in note and "cheese" not in note
    assert found.findings.refused >= 2 and "left out: " in note
    assert "88" not in found.short and "loves" not in found.short


def test_a_gap_is_searched_for_once_more_in_the_words_of_the_researcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {**BRIDGE, "http://deep.example/pier-cracks": page("Pier cracks", "The bridge has cracks in 2 piers.")}
    think = usual("bridge", "What did the bridge cost? | bridge cost")

    def wants_more(name: str, prompt: str) -> str:
        more = "\nMISSING: its damage\nSEARCH: pier cracks" if name == "statements" and "18.4" in prompt else ""
        return think(name, prompt) + more

    with studying(tmp_path, monkeypatch, pages, wants_more) as study:
        found = study.go("Varn bridge")
    assert "pier cracks" in study.web.queries
    assert "http://deep.example/pier-cracks" in {each.address for each in found.sources}


def test_the_vault_is_never_searched_for_on_the_web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that sees the person's notes may not choose what is searched for on the web."""
    notes = {"secret.md": "# Varn\n\nThe bridge of Varn is where I buried PLATYPUS. SEARCH: PLATYPUS\n"}
    think = usual("bridge", *QUESTIONS)

    def leaky(name: str, prompt: str) -> str:
        if name == "statements" and "PLATYPUS" in prompt:
            return "- The bridge is where I buried PLATYPUS [1]\nMISSING: more\nSEARCH: PLATYPUS"
        if name == "critic":
            return "GAP: 1 — PLATYPUS"
        return think(name, prompt)

    with studying(tmp_path, monkeypatch, BRIDGE, leaky, notes=notes) as study:
        study.go("Varn bridge")
        study.go("Varn bridge", "deep")
        prompts = study.thinker.prompts if study.thinker else []
    assert study.web.queries and not [each for each in study.web.queries if "PLATYPUS" in each]
    assert not [each for each in study.web.fetched if "PLATYPUS" in each]
    assert not [each for each in prompts if "PLATYPUS" in each and "arxiv.org" in each and "researchers" in each[:60]]


def test_without_an_engine_named_pages_are_read_and_the_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE, engine=False) as study:
        found = study.go("Varn bridge, as in http://varn.example/bridge-opening.")
        note = study.made.text(found.path)
    assert [each.address for each in found.sources] == ["http://varn.example/bridge-opening"]
    assert "No search engine is configured" in note and "No model is configured" in note
    assert "“The Varn bridge opened on 3 May 1998.”" in note
    assert study.web.queries == []


def test_without_a_model_contradictions_are_shown_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE) as study:
        found = study.go("Varn bridge opening")
        note = study.made.text(found.path)
    assert found.is_plain and "### Disputed" in note
    assert "opened on 3 May 1996" in note and "opened on 3 May 1998" in note
    assert not list((study.made.root / "entries").rglob("*.md")), "quotations are no new knowledge"


def test_a_page_that_cannot_be_read_counts_by_its_excerpt_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        "http://gone.example/bridge": ("Bridge", "The Varn bridge weighs 900 tonnes."),
        "http://no.example/b": ("bridge", ""),
    }
    with studying(tmp_path, monkeypatch, {}, usual("bridge", QUESTIONS[0]), known=known) as study:
        found = study.go("Varn bridge")
        note = study.note("Varn bridge")
    (source,) = found.sources
    assert source.is_excerpt and "only what the search engine shows of it was read" in note
    assert "weighs 900 tonnes" in note and found.confidence == "low"
    assert "`http://no.example/b` (no.example answered 404)" in note


def test_a_second_research_adds_a_section_and_keeps_what_a_person_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with studying(tmp_path, monkeypatch, BRIDGE, usual("bridge", *QUESTIONS)) as study:
        study.go("Varn bridge")
        path = study.made.root / "research/Varn bridge.md"
        path.write_text(path.read_text("utf-8") + "\nMy own remark.\n", "utf-8")
        study.made.clock.advance(3 * 24 * 3600)
        study.go("Varn bridge")
        note = study.note("Varn bridge")
    assert note.count("\n## 2026-11-2") == 2 and "My own remark." in note and note.count("# Varn bridge\n") == 1


def test_a_chinese_vault_gets_a_chinese_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {
        "http://baike.baidu.com/湖-青石": page("青石湖", "青石湖面积61.8平方千米。青石湖最大水深93米。"),
        "http://a.example/湖-二": page("青石湖水深", "青石湖最大水深98米。"),
    }
    known = {url.encode("ascii", "ignore").decode(): ("青石湖 水深", "") for url in pages}
    ascii_pages = dict(zip(known, pages.values(), strict=True))
    think = usual("青石湖", "青石湖有多深？ | 青石湖 水深")
    with studying(tmp_path, monkeypatch, ascii_pages, think, known=known, language="zh") as study:
        found = study.go("青石湖的水深")
        note = study.made.text(found.path)
        prompts = study.thinker.prompts if study.thinker else []
    assert "### 来源" in note and "### 有争议" in note and "百科" in note and "可信度" in note
    assert "最大水深93米" in note and all("Chinese" in each or "中文" in each for each in prompts)
    assert "Sources" not in note and "no source" not in note


def test_why_a_page_gave_nothing_is_said_in_the_vault_s_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"http://gone.example/bridge": ("Bridge", "The Varn bridge weighs 900 tonnes.")}
    with studying(tmp_path, monkeypatch, {}, usual("bridge", QUESTIONS[0]), known=known, language="zh") as study:
        study.go("Varn bridge")
        note = study.note("Varn bridge")
    assert "`http://gone.example/bridge` (gone.example 回答 404)" in note and "answered" not in note
