"""`vault-agent profile`: the notes about the person, as they and other programs see them."""

from pathlib import Path

import pytest

from tests.interfaces.cli.conftest import Run
from tests.vaults import git, write


@pytest.fixture
def laid(root: Path, run: Run) -> Path:
    """The vault with the profile's notes."""
    assert len(run("profile", "init")["created"]) == 17  # type: ignore[arg-type]
    return root


def files(run: Run) -> dict[str, dict[str, object]]:
    """What `profile show` gives, by path."""
    found = run("profile", "show")["files"]
    assert isinstance(found, list)
    return {each["path"]: each for each in found}


def test_every_note_is_shown_with_its_layer_and_how_far_it_is_filled(laid: Path, run: Run) -> None:
    path = laid / "profile/00-basic-info.md"
    write(path, path.read_text("utf-8").replace("- **Name**:", "- **Name**: Ida"))
    found = files(run)
    assert len(found) == 17
    basic, traits = found["profile/00-basic-info.md"], found["profile/10-personality.md"]
    assert (basic["layer"], basic["filled"], basic["confidence"]) == (0, 1, 1.0)
    assert "- **Name**: Ida" in str(basic["text"])
    assert (traits["layer"], traits["filled"], traits["confidence"]) == (1, 0, 0.0)
    one = run("profile", "show", "00")["files"]
    assert isinstance(one, list) and [each["path"] for each in one] == ["profile/00-basic-info.md"]
    run("profile", "show", "5", code=2)


def test_laying_out_touches_nothing_that_is_there(root: Path, run: Run) -> None:
    write(root / "profile/31-preferences.md", "mine\n")
    created = run("profile", "init", "--language", "zh")["created"]
    assert isinstance(created, list)
    assert len(created) == 16 and (root / "profile/31-preferences.md").read_text("utf-8") == "mine\n"
    assert "# 基本信息" in (root / "profile/00-basic-info.md").read_text("utf-8")
    assert run("profile", "init")["created"] == []
    assert git(root, "show", "--name-only", "--format=%s", "HEAD").count("profile/") == 16


def test_the_figures_count_fields_and_lines(laid: Path, run: Run) -> None:
    path = laid / "profile/23-interests-hobbies.md"
    write(path, path.read_text("utf-8").replace("Music**:", "Music**: Grieg") + "\nI sail.\n")
    status = run("profile", "status")
    assert (status["notes"], status["filled_notes"], status["filled_fields"], status["lines"]) == (17, 1, 1, 1)
    assert (status["missing"], status["open_questions"], status["sensitive"]) == ([], [], "ask")
    layers = run("profile", "layers")["layers"]
    assert isinstance(layers, list)
    assert [each["layer"] for each in layers] == [0, 1, 2, 3, 4, 5]
    assert (layers[2]["name"], layers[2]["filled_fields"], layers[2]["lines"]) == ("Ability and growth", 1, 1)


def test_what_is_filled_is_found_and_what_is_empty_is_not(laid: Path, run: Run) -> None:
    path = laid / "profile/23-interests-hobbies.md"
    write(path, path.read_text("utf-8").replace("Music**:", "Music**: Grieg"))
    hits = run("profile", "search", "music")["hits"]
    assert isinstance(hits, list)
    assert [(each["path"], each["text"]) for each in hits] == [("profile/23-interests-hobbies.md", "Music: Grieg")]
    assert run("profile", "search", "football")["hits"] == []
    assert run("profile", "search", "the", "music")["hits"] == run("profile", "search", "the music")["hits"]
    assert run("profile", "search", " ", code=2)["error"]["message"] == "the query is empty"  # type: ignore[index]


def test_what_was_said_is_written_and_its_history_shown(laid: Path, run: Run) -> None:
    run("remember", "I live in Oslo.")
    run("remember", "My name is Ida Berg.")
    run("tasks", "run", "upkeep")
    text = (laid / "profile/00-basic-info.md").read_text("utf-8")
    assert "- **Name**: Ida Berg ([[" in text and "- **Home**: Oslo ([[" in text
    changes = run("profile", "history")["changes"]
    assert isinstance(changes, list)
    assert len(changes) == 2 and '"My name is Ida Berg."' in changes[0] and "filled: Name: Ida Berg" in changes[0]
    assert files(run)["profile/00-basic-info.md"]["confidence"] == 0.75
    assert run("tasks", "run", "upkeep")["did_something"] is False


def test_what_nobody_filled_in_is_not_recalled(laid: Path, run: Run) -> None:
    answer = run("recall", "What are my goals and aspirations?")
    assert "profile/" not in str(answer)
    assert "profile/22" not in str(run("search", "goals and aspirations"))
    path = laid / "profile/22-goals-aspirations.md"
    write(path, path.read_text("utf-8").replace("Dream**:", "Dream**: To sail round Norway"))
    assert "profile/22" in str(run("search", "sail round Norway")) and "Norway" in str(run("recall", "Where to sail?"))


def test_what_is_forgotten_is_gone_from_the_profile(laid: Path, run: Run) -> None:
    before = (laid / "profile/00-basic-info.md").read_text("utf-8")
    run("remember", "I live in Oslo.")
    run("remember", "I prefer tea without sugar.")
    run("tasks", "run", "upkeep")
    path = laid / "profile/31-preferences.md"
    write(path, path.read_text("utf-8") + "\nMy own line about sugar.\n")
    run("forget", "I live in Oslo.", "--yes")
    run("forget", "I prefer tea without sugar.", "--yes")
    profile = "".join(each.read_text("utf-8") for each in (laid / "profile").glob("*.md"))
    assert "Oslo" not in profile and "tea without" not in profile and "- **Home**:\n" in profile
    assert "My own line about sugar." in profile
    changes = (laid / "profile/_changelog.md").read_text("utf-8")
    assert "- 20" not in changes, "its rows are gone as a whole"
    body = (laid / "profile/00-basic-info.md").read_text("utf-8").partition("\n# ")[2]
    assert body == before.partition("\n# ")[2]


def test_the_upkeep_fills_the_profile_when_a_person_runs_it(laid: Path, run: Run) -> None:
    run("remember", "My shoe size is 43.")
    run("remember", "I live in Oslo.")
    assert run("memory", "run")["profile"] == 1
    assert "- **Home**: Oslo (" in (laid / "profile/00-basic-info.md").read_text("utf-8")
    assert run("memory", "run")["profile"] == 0
