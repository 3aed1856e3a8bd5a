"""The fields of the API's lists are those that the command line prints with `--json`: nothing is dropped on the way."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.interfaces.cli.main import main
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.stories.agents import NOTES

JOB = "---\nid: brief\ntype: job\non: {cron: '0 8 * * *'}\nstatus: paused\n---\n# Brief\n\nBrief me.\n"
PROFILE = "---\ntype: profile\ntitle: Tastes\nlayer: 3\n---\n# Tastes\n\n- Green tea\n"
SAME = (
    (("log",), "/api/v1/log", "commits"),
    (("jobs",), "/api/v1/jobs", "jobs"),
    (("skills", "list"), "/api/v1/skills", "skills"),
    (("profile", "layers"), "/api/profile-files/layers", "layers"),
    (("approvals",), "/api/v1/approvals", "approvals"),
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    notes = {**NOTES, "jobs/brief.md": JOB, "profile/31-preferences.md": PROFILE}
    with open_house(tmp_path_factory.mktemp("house"), notes) as found:
        yield found


def printed(house: OpenHouse, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The document of a command."""
    assert main(["--vault", str(house.root), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("words", "path", "name"), SAME, ids=lambda each: str(each))
def test_a_list_has_the_same_fields(
    house: OpenHouse, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], path: str, name: str
) -> None:
    if name == "approvals":
        house.put("rules/tea.md", "Drink tea.\n", 403, If_None_Match="*")

    here, there = printed(house, capsys, *words)[name], house.get(path)[name]

    assert here
    assert here[0].keys() <= there[0].keys()
    assert {key: there[0][key] for key in here[0]} == here[0]


def test_one_of_a_kind_has_the_same_fields(house: OpenHouse, capsys: pytest.CaptureFixture[str]) -> None:
    for words, path in (
        (("sync", "status"), "/api/v1/sync"),
        (("profile", "status"), "/api/profile-files/summary"),
        (("diff",), "/api/v1/diff"),
    ):
        here = printed(house, capsys, *words)
        here.pop("ok")
        there = house.get(path)
        assert {key: there[key] for key in here} == here
    shown, found = printed(house, capsys, "jobs", "show", "brief")["job"], house.get("/api/v1/jobs/brief")
    assert {key: found[key] for key in shown} == shown
