"""Three places, one precedence; read once, again when something changed; one bad skill hides no other."""

import os
from pathlib import Path

import pytest

from agent.skills.loading.files import BadFolder, read_file
from agent.skills.loading.library import SkillLibrary
from agent.skills.reading.skill import SkillSource
from tests.fakes import FakeClock
from tests.skills.shelves import library, text, triggers
from tests.vaults import write


def names(lib: SkillLibrary) -> list[tuple[str, str]]:
    return [(skill.name, skill.source.value) for skill in lib.snapshot().candidates]


def test_the_vaults_own_go_before_the_learned_ones_and_those_before_the_packages(tmp_path: Path) -> None:
    lib = library(
        tmp_path,
        {
            "vault/skills/a/SKILL.md": text("a"),
            "vault/skills/learned/a/SKILL.md": text("a"),
            "vault/skills/learned/b/SKILL.md": text("b"),
            "package/a/SKILL.md": text("a"),
            "package/b/SKILL.md": text("b"),
            "package/c/SKILL.md": text("c"),
        },
    )
    assert lib.snapshot().named["a"].source is SkillSource.PACKAGE, "what nobody has looked at goes before nothing"
    for skill in [each for each in lib.snapshot().skills if each.source is not SkillSource.PACKAGE]:
        lib.review(skill, FakeClock().now(), "test")
    assert names(lib) == [("a", "vault"), ("b", "learned"), ("c", "package")]


def test_what_lies_beside_is_listed(tmp_path: Path) -> None:
    beside = {f"vault/skills/a/{path}": "x" for path in ("scripts/run.sh", "references/r.md", "assets/i.png", ".git/x")}
    lib = library(tmp_path, {"vault/skills/a/SKILL.md": text("a"), **beside})
    assert lib.snapshot().named["a"].files == ("assets/i.png", "references/r.md", "scripts/run.sh")


def test_folders_of_the_agents_own_and_loose_notes_are_no_skills(tmp_path: Path) -> None:
    lib = library(
        tmp_path,
        {
            "vault/skills/About skills.md": "hello",
            "vault/skills/history/a.md": "x",
            "vault/skills/deprecated/old/SKILL.md": text("old"),
            "vault/skills/mutations/m/SKILL.md": text("m"),
            "package/README.md": "hello",
        },
    )
    assert names(lib) == [] and lib.snapshot().problems == ()


def test_bad_skills_are_named_and_hide_no_other(tmp_path: Path) -> None:
    lib = library(
        tmp_path,
        {
            "vault/skills/bad/SKILL.md": text("bad", triggers("(")),
            "vault/skills/empty/readme.md": "x",
            "vault/skills/lower/skill.md": text("lower"),
            "vault/skills/good/SKILL.md": text("good"),
        },
    )
    assert names(lib) == [("good", "vault")]
    reasons = {problem.path: problem.reason for problem in lib.snapshot().problems}
    assert "RE2" in reasons["skills/bad/SKILL.md"]
    assert "there is no SKILL.md" in reasons["skills/empty/SKILL.md"]
    assert "must be called SKILL.md" in reasons["skills/lower/SKILL.md"]


def test_links_are_never_followed(tmp_path: Path) -> None:
    write(tmp_path / "outside/SKILL.md", text("outside"))
    lib = library(tmp_path, {"vault/skills/good/SKILL.md": text("good")})
    skills = tmp_path / "vault/skills"
    (skills / "outside").symlink_to(tmp_path / "outside")
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(tmp_path / "outside/SKILL.md")
    (skills / "good/secret.txt").symlink_to("/etc/passwd")
    os.mkfifo(skills / "good/pipe")
    (skills / "pipe").mkdir()
    os.mkfifo(skills / "pipe/SKILL.md")
    assert names(lib) == [("good", "vault")] and lib.snapshot().named["good"].files == ()
    said = " ".join(f"{problem.path} {problem.reason}" for problem in lib.snapshot().problems)
    for name in ("outside", "file", "secret.txt", "skills/pipe", "pipe is a link"):
        assert name in said


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "skill/SKILL.md", "x")
    (tmp_path / "skill/SKILL.md").unlink()
    (tmp_path / "skill/SKILL.md").symlink_to("/etc/passwd")
    with pytest.raises(BadFolder, match="cannot be read"):
        read_file(tmp_path, "skill", "SKILL.md", 100_000)


def test_the_whole_skills_folder_may_not_be_a_link_either(tmp_path: Path) -> None:
    write(tmp_path / "outside/a/SKILL.md", text("a"))
    lib = library(tmp_path)
    (tmp_path / "vault/skills").symlink_to(tmp_path / "outside")
    assert names(lib) == []


def test_nothing_is_read_again_until_something_changes(tmp_path: Path) -> None:
    lib = library(tmp_path, {f"vault/skills/s{n}/SKILL.md": text(f"s{n}") for n in range(5)})
    assert lib.snapshot() is lib.snapshot() and (lib.passes, lib.reads) == (1, 5)
    write(tmp_path / "vault/skills/s3/SKILL.md", text("s3", description="New."))
    lib.changed(["skills/s3/SKILL.md", "daily/today.md"])
    assert lib.snapshot().named["s3"].description == "New." and (lib.passes, lib.reads) == (2, 6)


def test_patterns_are_the_same_ones_until_one_changes(tmp_path: Path) -> None:
    lib = library(tmp_path, {"vault/skills/tea/SKILL.md": text("tea", triggers("tea"))})
    before = lib.snapshot().patterns
    lib.refresh()
    assert [pattern.compiled for pattern in lib.snapshot().patterns] == [pattern.compiled for pattern in before]
    write(tmp_path / "vault/skills/tea/SKILL.md", text("tea", triggers("green tea")))
    lib.refresh()
    assert [pattern.text for pattern in lib.snapshot().patterns] == ["green tea"]


def test_without_events_a_fresh_look_finds_what_changed(tmp_path: Path) -> None:
    lib = library(tmp_path, {f"vault/skills/s{n}/SKILL.md": text(f"s{n}") for n in range(3)})
    lib.snapshot()
    write(tmp_path / "vault/skills/s1/SKILL.md", text("s1", description="New."))
    write(tmp_path / "vault/skills/new/SKILL.md", text("new"))
    (tmp_path / "vault/skills/s0/SKILL.md").unlink()
    (tmp_path / "vault/skills/s0").rmdir()
    lib.refresh()
    assert set(lib.snapshot().named) == {"s1", "s2", "new"} and lib.snapshot().named["s1"].description == "New."
    assert lib.reads == 5


def test_a_burst_of_changes_is_read_once(tmp_path: Path) -> None:
    paths = [f"skills/s{n}/SKILL.md" for n in range(200)]
    lib = library(tmp_path, {f"vault/{path}": text(path.split("/")[1]) for path in paths})
    lib.snapshot()
    before = lib.passes
    for path in paths:
        write(tmp_path / "vault" / path, text(path.split("/")[1], description="New."))
        lib.changed([path])
    assert all(skill.description == "New." for skill in lib.snapshot().skills)
    assert lib.passes == before + 1 and lib.reads == 400


@pytest.mark.parametrize("changed", [["skills/gone/SKILL.md"], ["skills/gone"], ["skills/learned/gone/SKILL.md"]])
def test_a_skill_that_is_gone_is_forgotten(tmp_path: Path, changed: list[str]) -> None:
    folder = "vault/skills/learned/gone" if "learned" in changed[0] else "vault/skills/gone"
    lib = library(tmp_path, {f"{folder}/SKILL.md": text("gone")})
    assert lib.snapshot().get("gone") is not None
    (tmp_path / folder / "SKILL.md").unlink()
    (tmp_path / folder).rmdir()
    lib.changed(changed)
    assert lib.snapshot().get("gone") is None and lib.snapshot().problems == ()


def test_every_one_of_500_broken_and_huge_skills_is_named(tmp_path: Path) -> None:
    bombs: list[str | bytes] = [
        "---\n" + "a: [" * 200,
        b"\xff" * 1000,
        text("x", "x: " + "y" * 30_000),
        text("x", triggers("(a|b)*a(a|b){900}")),
        text("x", body="z" * 300_000),
        "---\nname: [\n---\n",
        text("x", "chain:\n" + "  - skill: nobody\n" * 20),
        text("x", "a: &a [1]\nb: [" + "*a," * 2_000 + "]"),
        b"",
        text("x", "triggers:\n  context_signals: {keywords: [" + "k, " * 900 + "]}"),
    ]
    for number in range(500):
        write(tmp_path / f"vault/skills/bad-{number}/SKILL.md", bombs[number % len(bombs)])
    lib = library(tmp_path, {"vault/skills/good/SKILL.md": text("good")})
    assert names(lib) == [("good", "vault")]
    assert len({problem.path for problem in lib.snapshot().problems}) == 500
    assert all(len(problem.reason) < 400 for problem in lib.snapshot().problems)


def test_a_folder_of_too_many_or_too_deep_files_is_left_out(tmp_path: Path) -> None:
    many = {f"vault/skills/many/f{n}": "" for n in range(600)}
    deep = {f"vault/skills/deep/{'d/' * 10}f": ""}
    lib = library(
        tmp_path,
        {"vault/skills/many/SKILL.md": text("many"), "vault/skills/deep/SKILL.md": text("deep"), **many, **deep},
    )
    assert names(lib) == [] and len(lib.snapshot().problems) == 2


def test_names_with_tricks_stay_inside(tmp_path: Path) -> None:
    lib = library(tmp_path)
    for name in ("a\nb", "..x", "a b", "ａ／ｂ", "A", "x:y", "\u202eevil"):
        write(tmp_path / "vault/skills" / name / "SKILL.md", text(f'"{name!r}"'))
    lib.changed(["skills/../../outside/SKILL.md", "skills/..", "skills/", "skills//x"])
    assert names(lib) == [] and len(lib.snapshot().problems) == 7 - 1, "one is hidden"
    assert all(problem.path.isprintable() for problem in lib.snapshot().problems)
