"""What stands in the files for an image fits the program: its files, options and packages."""

import re
import shlex
from pathlib import Path
from typing import Any, cast

import click
import yaml
from packaging.utils import canonicalize_name

from agent.interfaces.cli.loading import load_command
from tests.supply.licences import packages

PACKAGING = Path(__file__).parents[2] / "configs/packaging"
IMAGE = (PACKAGING / "container/Containerfile").read_text("utf-8")


def test_what_is_copied_is_there_and_what_is_run_was_copied() -> None:
    (copied,) = re.findall(r"^COPY (.+)$", IMAGE, re.MULTILINE)
    *sources, _ = shlex.split(copied)
    assert [
        each for each in sources if not each.startswith("dist/") and not (PACKAGING.parents[1] / each).exists()
    ] == []
    for script in set(re.findall(r"/tmp/build/([\w-]+\.sh)", IMAGE)):
        assert (PACKAGING / "container" / script).stat().st_mode & 0o111


def test_it_runs_without_rights_and_keeps_all_in_volumes() -> None:
    assert IMAGE.index("\nUSER agent") < IMAGE.index("\nENTRYPOINT")
    assert 'VOLUME ["/vault", "/state"]' in IMAGE and "HEALTHCHECK" in IMAGE
    agent = compose()["services"]["agent"]
    assert agent["cap_drop"] == ["ALL"] and agent["read_only"] and "ports" not in agent


def test_the_commands_have_the_options_that_are_given() -> None:
    serve = load_command("serve")
    assert isinstance(serve, click.Command)
    known = {option for each in serve.params for option in each.opts}
    for command in (compose()["services"]["agent"]["command"], shlex.split(IMAGE.splitlines()[-1].translate(PLAIN))):
        assert {each for each in command if each.startswith("--")} <= known


def test_each_package_of_an_install_has_its_version() -> None:
    rows = (PACKAGING / "constraints.txt").read_text("utf-8").splitlines()
    held = {canonicalize_name(line.split("==")[0]) for line in rows if "==" in line}
    assert {each.name for each in packages()} - held == set()


PLAIN = str.maketrans(dict.fromkeys('[],"', " "))


def compose() -> dict[str, Any]:
    return cast("dict[str, Any]", yaml.safe_load((PACKAGING / "container/compose.yaml").read_text("utf-8")))
