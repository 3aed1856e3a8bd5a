"""Promise 6 for the agent: whatever fails, the answer, the session's note, the commits and the files tell one story."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.small_disk import mounted_disk
from tests.trust.agent_honesty import STATES, Failure, check, failures
from tests.trust.wipes import clear


@pytest.mark.parametrize("count", [16, pytest.param(500, marks=pytest.mark.chaos)])
def test_nothing_is_said_to_be_done_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    said = Counter[str]()
    for number, failure in enumerate(failures(count, "ask")):
        said[check(tmp_path / str(number), failure, monkeypatch.setenv, number // 4)] += 1
        clear(tmp_path / str(number))
    assert said.total() == count
    assert said["finished"] > count // 10 and said["failed"] > count // 10, said


@pytest.mark.chaos
@pytest.mark.parametrize("wire", [0, 1], ids=["openai", "anthropic"])
@pytest.mark.parametrize("failure", STATES, ids=lambda failure: failure.name)
def test_every_state_is_told_truly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Failure, wire: int
) -> None:
    assert check(tmp_path, failure, monkeypatch.setenv, wire) in {"finished", "failed", "limit", "raised"}


def test_an_endless_model_is_stopped_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(tmp_path, Failure("endless", endless=True), monkeypatch.setenv) == "limit"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path, 4) as place:
        yield place


@pytest.mark.parametrize("left", [0, 200_000, 400_000, 600_000])
def test_on_a_full_disk_nothing_is_called_done(small_disk: Path, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    """The disk is full before the run, or gets full in the middle of it; afterwards there is room again."""
    filler = small_disk / "filler"

    def fill() -> None:
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        free = max(filler.stat().st_size - left, 0)
        with filler.open("r+b") as file:
            file.truncate(free)

    @contextmanager
    def full(root: Path, state: Path) -> Iterator[None]:
        fill()
        try:
            yield
        finally:
            filler.unlink()

    assert check(small_disk / "x", Failure(f"{left} bytes left", there=full), monkeypatch.setenv) in {
        "finished",
        "failed",
        "raised",
    }
