"""Readers of what others have written take any bytes: inputs that once failed, and some made of the seeds."""

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.fuzz.targets import TARGETS

FOUND = sorted(path for path in Path(__file__).with_name("found").glob("*/*"))
PIECES = tuple(
    each.encode() for each in ("---\n", "[[", "]]", "```", "\r\n", "\0", '"', "{{", "\u202e", ": ", "- [ ] ", "|")
)


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.name[:20]}")
def test_what_once_failed_is_taken(path: Path) -> None:
    target = TARGETS[path.parent.name]
    began = time.perf_counter()
    target.read(path.read_bytes())
    assert time.perf_counter() - began < 2 * target.seconds


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=some.data())
def test_seeds_that_were_spoilt_are_taken(name: str, data: some.DataObject) -> None:
    found = bytearray(data.draw(some.sampled_from(TARGETS[name].seeds)))
    for _ in range(data.draw(some.integers(0, 6))):
        at = data.draw(some.integers(0, len(found)))
        match data.draw(some.integers(0, 3)):
            case 0:
                found[at:at] = data.draw(some.sampled_from(PIECES) | some.binary(max_size=4))
            case 1:
                del found[at : at + data.draw(some.integers(1, 20))]
            case 2:
                found[at:at] = found[: data.draw(some.integers(0, 40))]
            case _:
                found[at : at + 1] = data.draw(some.binary(min_size=1, max_size=1))
    TARGETS[name].read(bytes(found))
