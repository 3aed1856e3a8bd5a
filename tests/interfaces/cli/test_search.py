"""`search` as a person and as a program has it: now, in the past, many at once, and what it says when it is behind."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.index.keyword import SIGNALS
from agent.interfaces.cli.main import main
from agent.texts import LANGUAGES, Language, text
from agent.workspace.search_index import open_index
from agent.workspace.workspace import daemon_lock
from tests.interfaces.cli.conftest import Run
from tests.vaults import git, head, write

TEA = "# Tea\n\nGreen tea from the hills.\n\n## Brewing\n\nThe kettle sings at eighty degrees.\n"


@pytest.fixture(autouse=True)
def _tea(root: Path) -> None:
    write(root / "tea.md", TEA)


def hits(document: dict[str, object]) -> list[dict[str, Any]]:
    found = document["hits"]
    assert isinstance(found, list)
    return found


def test_the_document_is_as_promised(run: Run) -> None:
    document = run("search", "kettle")
    assert list(document) == ["ok", "query", "mode", "degraded", "engine", "took_ms", "hits"]
    assert document["ok"] is True and document["query"] == "kettle"
    assert document["mode"] in {"hybrid", "keyword"} and document["engine"] in {"whoosh", "tantivy"}
    assert document["mode"] == "hybrid" or document["degraded"]
    assert isinstance(document["took_ms"], float)
    hit = hits(document)[0]
    assert list(hit) == ["path", "title", "id", "score", "lines", "passage", "headings", "why"]
    assert (hit["path"], hit["title"], hit["id"]) == ("tea.md", "tea", None) or hit["title"] == "Tea"
    first, last = hit["lines"]
    assert 1 <= first <= 7 <= last
    assert hit["passage"] == "\n".join(TEA.split("\n")[first - 1 : last])
    assert hit["why"] == []


def test_where_a_note_says_it_those_that_resemble_it_are_left_out(root: Path, run: Run) -> None:
    for number in range(6):
        write(root / f"说法{number}.md", f"# 说法{number}\n\n下午去超市买了第 {number} 样菜，再去接孩子放学回家。\n")
    write(root / "租车.md", "# 租车\n\n洱海骑行租车在龙龛码头。\n")
    assert [each["path"] for each in hits(run("search", "龙龛码头"))] == ["租车.md"]


def test_the_line_with_the_words_is_shown(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "\n\n".join(f"## {name}" for name in ("About you", "Health", "People", "Work"))
    write(root / "facts.md", f"# Facts\n\nWorth keeping.\n\n{rows}\n\n- the theremin is lent to Aarne\n")
    assert main(["--vault", str(root), "search", "theremin"]) == 0
    assert "the theremin is lent to Aarne" in capsys.readouterr().out


def test_explain_names_every_signal_with_rank_and_score(run: Run) -> None:
    why = hits(run("search", "kettle", "--explain"))[0]["why"]
    assert why and all(list(leg) == ["leg", "rank", "score", "share"] for leg in why)


@pytest.mark.parametrize("language", LANGUAGES)
def test_for_a_person_every_signal_has_its_own_words(language: Language) -> None:
    words = [text(f"search_signals.{name}", language) for name in SIGNALS]
    assert len({*words}) == len(SIGNALS) and not any("_" in each for each in words)


def test_the_reasons_for_a_person_are_in_words(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["search", "kettle", "--explain"], ["recall", "kettle", "--all"]):
        assert main(command) == 0
        shown = capsys.readouterr().out
        assert text("search_signals.unit", "en") in shown or text("search_signals.hood", "en") in shown
        assert not [name for name in SIGNALS if "_" in name and name in shown]


def test_a_note_has_one_hit_and_with_passages_one_for_each(run: Run, root: Path) -> None:
    write(root / "long.md", "\n\n".join(f"## Part {n}\n\nkettle number {n} " + "and water " * 60 for n in range(6)))
    notes = [hit["path"] for hit in hits(run("search", "kettle"))]
    assert sorted(notes) == sorted(set(notes))
    passages = hits(run("search", "kettle", "--passages", "--limit", "5"))
    assert [hit["path"] for hit in passages].count("long.md") > 1 and len(passages) <= 5


def test_the_limit_is_kept(run: Run) -> None:
    assert len(hits(run("search", "one two tea", "--limit", "1"))) == 1


def test_a_filter_narrows_and_a_wrong_one_is_explained(run: Run) -> None:
    assert [hit["path"] for hit in hits(run("search", "path:tea kettle"))] == ["tea.md"]
    error = run("search", "after:whenever tea", code=2)["error"]
    assert isinstance(error, dict) and error["hint"]


def test_many_questions_are_one_line_each(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root.parent / "questions.txt", "kettle\n\none\n")
    assert main(["search", "--queries", str(root.parent / "questions.txt")]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["query"] for line in lines] == ["kettle", "one"]
    assert [line["hits"][0]["path"] for line in lines] == ["tea.md", "a.md"]
    assert run("search", code=2)["error"]
    assert run("search", "x", "--queries", str(root.parent / "questions.txt"), code=2)["error"]


def test_what_was_edited_a_moment_ago_is_found_without_a_daemon(run: Run, root: Path) -> None:
    assert hits(run("search", "kettle"))[0]["path"] == "tea.md"
    write(root / "tea.md", "# Tea\n\nNothing sings any more; the samovar hums.\n")
    document = run("search", "samovar")
    assert hits(document)[0]["path"] == "tea.md" and document["degraded"] is None
    assert not any("kettle" in hit["passage"] for hit in hits(run("search", "kettle")))


def test_the_past_is_searched_as_it_was(run: Run, root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "tea", "--date", "2020-05-05T12:00:00")
    then = head(root)
    (root / "tea.md").rename(root / "drink.md")
    write(root / "b.md", "samovar\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "later")
    write(root / "b.md", "neither\n")

    past = run("search", "kettle", "--as-of", then)
    assert hits(past)[0]["path"] == "tea.md" and past["degraded"] is None
    assert not any("samovar" in hit["passage"] for hit in hits(run("search", "samovar", "--as-of", then)))
    assert hits(run("search", "samovar", "--as-of", "HEAD"))[0]["path"] == "b.md"
    assert hits(run("search", "kettle"))[0]["path"] == "drink.md"
    assert not any("samovar" in hit["passage"] for hit in hits(run("search", "samovar")))


def test_the_past_of_a_day_ends_with_that_day(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for day, word in (("2020-01-01", "--amend"), ("2020-05-05", "samovar"), ("2020-05-07", "teapot")):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00")
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{day}T12:00:00")
        write(root / "b.md", f"{word}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", word, *(["--amend", "--reset-author"] if word == "--amend" else []))
    assert "samovar" in hits(run("search", "samovar", "--as-of", "2020-05-06"))[0]["passage"]
    assert "teapot" in hits(run("search", "teapot", "--as-of", "2020-05-07"))[0]["passage"]
    error = run("search", "x", "--as-of", "1999-01-01", code=2)["error"]
    assert isinstance(error, dict) and "1999-01-01" in error["message"]


def test_with_a_daemon_it_is_told_what_the_daemon_has_yet_to_do(run: Run, root: Path) -> None:
    run("search", "kettle")
    workspace = open_workspace(root)
    with daemon_lock(workspace):
        for state, words in (
            ({"starting": True}, "just started"),
            ({"waiting": 7}, "7"),
            ({"index": "no space left"}, "no space left"),
        ):
            workspace.daemon_state.write_text(json.dumps({"pid": 1, **state}))
            assert words in str(run("search", "kettle")["degraded"])
        workspace.daemon_state.write_text(json.dumps({"pid": 1, "waiting": 0, "index": None}))
        assert run("search", "kettle")["degraded"] is None


def test_damage_is_said_and_the_next_search_has_it_mended(run: Run, root: Path) -> None:
    run("search", "kettle")
    folder = open_index(open_workspace(root)).files.folder
    next(folder.glob("vectors/*")).write_bytes(b"nonsense")
    first = run("search", "kettle")
    assert "whole again after damage" in str(first["degraded"]) and hits(first)[0]["path"] == "tea.md"
    mended = run("search", "kettle")
    assert mended["degraded"] is None and hits(mended)[0]["path"] == "tea.md"


def test_a_hit_is_opened_in_the_editor_at_its_line(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = root.parent / "nano"
    write(editor, f'#!/bin/sh\necho "$@" > "{root.parent}/opened"\n')
    editor.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", str(editor))
    line = hits(run("search", "kettle", "--open", "1"))[0]["lines"][0]
    assert (root.parent / "opened").read_text() == f"+{line} {root / 'tea.md'}\n"
    assert run("search", "kettle", "--open", "99", code=2)["error"]


def test_a_search_finds_the_person_s_notes_and_the_program_s_where_they_are_asked_for(run: Run, root: Path) -> None:
    said = "When does the ferry to the island leave?\n"
    write(root / "sessions/2026/11/2026-11-22 ferry.md", f"---\ntype: session\n---\n# {said}\n{said}")
    write(root / "Templates/trip.md", f"# Ferry to the island\n\n{said}")
    write(root / "notes/About.md", f"---\ntype: about\n---\n# Ferry\n\n{said}")
    write(root / "trip.md", "# Trip\n\nThe ferry goes to the island at nine, and leaves from the old pier.\n")
    own = {"sessions/2026/11/2026-11-22 ferry.md", "Templates/trip.md", "notes/About.md"}
    assert [hit["path"] for hit in hits(run("search", said))] == ["trip.md"]
    found = [hit["path"] for hit in hits(run("search", said, "--all"))]
    assert found[0] == "trip.md" and own <= set(found)
    assert {hit["path"] for hit in hits(run("search", f"{said} kind:agent"))} >= own
    assert "trip.md" not in {hit["path"] for hit in hits(run("search", f"{said} kind:agent"))}
    assert hits(run("search", f"path:sessions/ {said}"))[0]["path"].startswith("sessions/")


def test_an_answer_in_a_note_and_the_log_of_a_day_are_the_agent_s_and_the_rest_is_the_person_s(
    run: Run, root: Path
) -> None:
    write(root / "ask.md", "Which pier?\n\n%% vault-agent: answer 01K %%\n## Answer\n\nThe heron pier.\n"
          "%% vault-agent: end of answer %%\n")  # fmt: skip
    run("ask", "Where is the walrus?")  # the day's log has the question
    (day,) = (root / "daily").glob("*.md")
    assert hits(run("search", "walrus")) == [] and hits(run("search", "heron")) == []
    write(day, f"{day.read_text('utf-8')}\nSaw a walrus at the harbour.\n")
    (hit,) = hits(run("search", "walrus"))
    assert hit["path"] == f"daily/{day.name}" and "harbour" in hit["passage"] and "Where is" not in hit["passage"]
    assert hits(run("search", "heron", "--all"))[0]["path"] == "ask.md"


def test_a_search_that_finds_nothing_says_so(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Notes about the vault itself have all sorts of words, and are near to everything."""
    for name in ("entries", "daily", "profile"):
        write(root / f"{name}/About {name}.md", f"---\ntype: about\n---\n# About {name}\n\nWhat grows in a garden.\n")
    for query in ("hedge", "健康"):
        assert hits(run("search", query)) == []
        capsys.readouterr()
        assert main(["search", query]) == 0
        shown = capsys.readouterr().out
        assert "no note has these words" in shown and "nothing found; --all" in shown and "nearest" not in shown


def test_what_a_person_told_is_before_the_question_that_they_asked(run: Run, root: Path) -> None:
    run("remember", "The spare key is with Ana")
    run("ask", "Who has the spare key?")
    assert hits(run("search", "who has the spare key"))[0]["path"].startswith("entries/")


def test_when_no_note_has_the_words_it_says_so(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    said = "no note has these words"
    for query, is_said in (("zzzzqqq", True), ("kettle", False), ("path:tea.md", False)):
        assert main(["search", query]) == 0
        assert (said in capsys.readouterr().out) == is_said, query


def test_a_file_that_is_no_text_is_not_found_and_status_says_so(run: Run, root: Path) -> None:
    write(root / "Binary.md", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rkettle" + bytes(range(256)) * 4)
    write(root / "log.md", "\x1b[31mkettle\x1b[0m boils\n")
    found = [hit["path"] for hit in hits(run("search", "kettle"))]
    assert "Binary.md" not in found and {"tea.md", "log.md"} <= set(found)
    index = run("status", "--notes")["index"]
    assert isinstance(index, dict) and {"path": "Binary.md", "reason": "not text"} in index["notes"]


def test_the_text_of_a_hit_has_no_comments_of_the_program_and_no_blank_lines(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root / "ask.md", "Which pier?\n\n%% vault-agent: answer 01K %%\n## Answer\n\nThe old pier.\n")
    assert main(["search", "pier"]) == 0
    shown = capsys.readouterr().out
    assert "Which pier?" in shown and "%%" not in shown and all(map(str.strip, shown.rstrip().split("\n")))


def test_a_note_whose_name_is_no_text_is_named_by_status(
    run: Run, root: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It cannot be in the index: that is said where it is looked for, once, and not with each search."""
    write(Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md")), "The kettle of the bar.\n")
    for _ in range(2):
        assert hits(run("search", "kettle"))[0]["path"] == "tea.md"
    assert not caplog.records
    index = run("status", "--notes")["index"]
    assert isinstance(index, dict)
    assert (index["behind"], index["not_indexed"]) == (0, 1)
    assert [each["reason"] for each in index["notes"]] == ["its name is not UTF-8; rename it"]


def said_of_near(capsys: pytest.CaptureFixture[str], query: str, *more: str) -> str:
    """The sentence above hits that only are near, or in place of any."""
    capsys.readouterr()
    assert main(["search", query, *more]) == 0
    return capsys.readouterr().out.splitlines()[0]


def test_what_is_near_in_meaning_is_shown_as_such(run: Run, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "doctor.md", "# Doctor\n\nThe physician is in the clinic near the hospital.\n")
    assert "these are nearest in meaning" in said_of_near(capsys, "medic")
    assert hits(run("search", "medic"))[0]["path"] == "doctor.md"


def test_no_note_is_said_to_have_the_words_only_where_that_is_known(
    run: Run, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said_of_near(capsys, "zzzzqqq").startswith("no note has these words")
    write(root / "odd.md", "# Odd\n\nzzzzqqq\n")
    assert "only notes that the filter leaves out" in said_of_near(capsys, "path:tea.md zzzzqqq")
    assert "only notes that the filter leaves out" not in said_of_near(capsys, "path:tea.md qqqqzzz")
    (root / "odd.md").unlink()
    write(root / ".gitignore", "private.md\n")
    write(root / "private.md", "zzzzqqq\n")
    assert "since git ignores them" in said_of_near(capsys, "zzzzqqq")
    (root / "private.md").unlink()
    write(root / "binary.md", b"\0zzzzqqq\0" * 4)
    assert "not whole in the index" in said_of_near(capsys, "zzzzqqq")
    (root / "binary.md").unlink()
    assert said_of_near(capsys, "zzzzqqq").startswith("no note has these words")


def test_while_notes_are_not_indexed_nobody_knows_which_words_they_have(
    run: Run, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("search", "tea")
    for number in range(201):
        write(root / f"new/{number}.md", "# New\n\nzzzzqqq\n")
    said = said_of_near(capsys, "zzzzqqq")
    assert "is not known" in said and "not indexed yet" in said
