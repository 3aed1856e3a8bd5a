"""200 readers of the events and 50 writers at once: what was acknowledged is there, and every reader heard of it."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from tests.daemon.house import furnish
from tests.interfaces.http.load import Load, put_load, serving
from tests.vaults import git, make_vault

FLAT = {5: 150, 60: 40}
"""Megabytes that the server may have more after so many seconds of load than half-way: the first ones load the model of
search."""


@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.chaos)])
def test_nothing_is_lost(tmp_path: Path, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {"green.md": "# Green tea\n"}).place.root
    with serving(root, dict(os.environ)) as served:
        load = asyncio.run(put_load(served, 200, 50, seconds))
    logging.getLogger(__name__).warning(told(load))
    assert load.other == []
    assert len(load.notes) > seconds
    wanted = dict(sorted(load.notes.items()))
    there = set(git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines())
    assert [path for path in wanted if path not in there or (root / path).read_text() != wanted[path]] == []
    assert all(ids == list(range(ids[0], ids[0] + len(ids))) for ids in load.readers), "an event is missing"
    assert len({ids[-1] for ids in load.readers}) == 1, "some readers heard less than others"
    assert load.memory[-1] - load.memory[1] < FLAT[seconds]


def told(load: Load) -> str:
    """The figures, for whoever runs this with `-o log_cli=true`."""
    memory = ", ".join(f"{each:.0f}" for each in load.memory)
    return (
        f"{len(load.notes)} notes, {load.refused} refusals, p50 {load.slowest(0.5):.2f} s, "
        f"p99 {load.slowest(0.99):.2f} s, {sum(map(len, load.readers))} events read, memory {memory} MB"
    )
