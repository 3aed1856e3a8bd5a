"""What makes a release fits the program, and can do no more than it must."""

import re
import subprocess
from importlib.metadata import requires
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.supply.changelog import CHANGELOG, draft, last_tag
from tests.supply.constraints import CONSTRAINTS
from tests.supply.licences import NOT_FOR_PEOPLE, PROGRAM
from tests.supply.pythons import MINORS
from tests.vaults import git, init

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "configs/packaging"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
_PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


def test_the_changelog_is_drafted_from_what_people_notice(tmp_path: Path) -> None:
    init(tmp_path)
    pages = tmp_path / "agent/docs/en"
    pages.mkdir(parents=True)

    def commit(subject: str, *names: str) -> None:
        for name in names:
            (pages / name).write_text(f"# About {name}\n\n{subject}\n")
        (tmp_path / "code.py").write_text(subject)
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--message", subject)

    commit("Search finds more", "search.md", "commands.md")
    git(tmp_path, "tag", "v1.0.0")
    commit("A faster start")
    commit("A picture is found", "commands.md", "search.md")
    commit("A command is gone", "commands.md")
    assert last_tag(tmp_path) == "v1.0.0"
    assert draft(tmp_path) == (
        "## Unreleased\n\n### About commands.md\n\n- A command is gone\n\n"
        "### About search.md\n\n- A picture is found\n\n"
        "And 1 changes that no page tells of.\n"
    )
    assert "Search finds more" in draft(tmp_path, "")


def test_each_version_has_its_section() -> None:
    sections = re.findall(r"^## \[?([\w.]+)", CHANGELOG.read_text("utf-8"), re.MULTILINE)
    tags = subprocess.run(["git", "tag", "--list", "v*"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert {tag.removeprefix("v") for tag in tags.split()} <= set(sections)
    assert sections


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_may_do_what_it_must_and_runs_what_is_named(file: Path) -> None:
    said = cast("dict[Any, Any]", yaml.safe_load(file.read_text("utf-8")))
    assert said["permissions"] == {}, "each job names its own"
    for name, job in said["jobs"].items():
        rights = job["permissions"]
        assert set(rights) == {"contents"} and (rights["contents"] == "read" or name == "publish")
        assert job["timeout-minutes"] <= 60
        uses = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [each for each in uses if not _PINNED.fullmatch(each)] == []
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), "a text of theirs would become part of the command"
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    starts = said[True]  # YAML reads the word `on` as a truth
    assert "pull_request_target" not in starts
    if "pull_request" in starts:
        assert "secrets" not in file.read_text("utf-8") and "write" not in str(said["jobs"])


def test_each_package_that_is_asked_for_has_a_version_for_each_python_that_it_allows() -> None:
    rows = [Requirement(line) for line in CONSTRAINTS.read_text("utf-8").splitlines() if not line.startswith("#")]
    wrong = []
    for line in requires(PROGRAM) or ():
        wanted = Requirement(line)
        if any(f'extra == "{each}"' in line or f"extra == '{each}'" in line for each in NOT_FOR_PEOPLE):
            continue
        for minor in MINORS:
            here = {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.1"}
            held = [
                row
                for row in rows
                if canonicalize_name(row.name) == canonicalize_name(wanted.name)
                and (row.marker is None or row.marker.evaluate(here))
            ]
            versions = [each.version for row in held for each in row.specifier]
            if len(versions) != 1 or not wanted.specifier.contains(versions[0], prereleases=True):
                wrong.append(f"{line} on 3.{minor}: {versions}")
    assert wrong == [], "python -m tests.supply.constraints writes the file anew"


def test_the_packages_of_systems_name_what_is_there() -> None:
    script = (PACKAGING / "debian/build.sh").read_text("utf-8")
    for name in re.findall(r'"\$here/([^"$]+)"', script):
        assert (PACKAGING / "debian" / name).exists(), name
    formula = (PACKAGING / "homebrew/vault-agent.rb").read_text("utf-8")
    assert set(re.findall(r"@[A-Z0-9]+@", formula)) == {"@HOMEPAGE@", "@URL@", "@SHA256@"}
    for text in (formula, (PACKAGING / "nix/default.nix").read_text("utf-8")):
        assert "configs/packaging/constraints.txt" in text
