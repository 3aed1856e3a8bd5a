"""`browsers` lists who is signed in to the dashboard and signs out, with a server at work or without."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.app.open import open_workspace
from agent.interfaces.http.door.browsers import Browsers, browsers_of
from tests.interfaces.cli.conftest import Run

IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1"


@pytest.fixture
def browsers(run: Run, root: Path) -> Browsers:
    return browsers_of(open_workspace(root))


def listed(run: Run) -> list[Mapping[str, Any]]:
    found = run("browsers")["browsers"]
    assert isinstance(found, list)
    return found


def test_they_are_listed_and_signed_out(run: Run, browsers: Browsers) -> None:
    assert listed(run) == []
    for agent in (IPHONE, "curl/8"):
        browsers.add("token", 19821, agent)
    assert sorted((each["name"] or "", each["port"]) for each in listed(run)) == [
        ("", 19821),
        ("Safari, iPhone", 19821),
    ]
    phone = next(each["id"] for each in listed(run) if each["name"])
    assert run("browsers", "end", phone)["ended"] == [phone]
    assert [each["name"] for each in listed(run)] == [None]
    assert len(run("browsers", "end", "--all")["ended"]) == 1  # type: ignore[arg-type]
    assert listed(run) == [] and browsers.all() == ()


def test_one_that_is_not_signed_in_ends_nobody(run: Run, browsers: Browsers) -> None:
    browsers.add("token", 19821, IPHONE)
    (known,) = listed(run)
    error = run("browsers", "end", known["id"], "nobody", code=2)["error"]
    assert isinstance(error, dict) and "nobody" in error["message"]
    for wrong in ((), ("--all", known["id"])):
        error = run("browsers", "end", *wrong, code=2)["error"]
        assert isinstance(error, dict) and "--all" in error["message"]
    assert listed(run) == [known]
