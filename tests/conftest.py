"""A slow machine must not fail a law: generated examples have no time limit. And git, started by a test, works on the
test's own repository, never on the one whose hook or rebase has started the tests.
A person's own models do not count.

The tests' folders are in memory where there is room: thousands of small repositories that nobody keeps are no work for
a disk. `--basetemp`, or `PYTEST_DEBUG_TEMPROOT`, puts them elsewhere.

A daemon looks for garbage each time it comes to rest, which is right for a process that rests for hours. Here hundreds
of daemons share the process with thousands of tests, and each look goes through what all of them have left.

`/dev/null` belongs to all: run as root, one rename onto it makes every program fail that comes later, far from the test
that did it. So it is looked at after each test. And a check that runs in the background ignores the signals of a
terminal; what it starts must not."""

import gc
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.databases import database_url as database_url
from tests.databases import postgres as postgres
from tests.processes import hear_signals

for _name in [name for name in os.environ if name.startswith("GIT_")]:
    del os.environ[_name]
os.environ["HF_HUB_CACHE"] = os.devnull

for _name in ("give_back_memory", "trim_memory"):  # before any module takes them from there
    pytest.MonkeyPatch().setattr(f"agent.workspace.process_memory.{_name}", lambda: None)

MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that must be free, of the folder and of the machine. What passes is removed at once: a few megabytes stay."""


def _roomy(folder: Path) -> bool:
    try:
        runs_programs = not os.statvfs(folder).f_flag & os.ST_NOEXEC
        known = dict(line.split(":") for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        free = [shutil.disk_usage(folder).free, int(known["MemAvailable"].split()[0]) << 10]
        limit = Path("/sys/fs/cgroup/memory.max")
        if limit.exists() and (most := limit.read_text("ascii").strip()) != "max":
            free.append(int(most))
        return runs_programs and os.access(folder, os.W_OK) and min(free) > ROOM
    except (OSError, ValueError, LookupError, AttributeError):
        return False


if _roomy(MEMORY):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

hear_signals()

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The node host that `tests/contracts/node_host.py` is run against."""
    parser.addoption("--base-url", help="the address of a node host", default="")
    parser.addoption("--token", help="its token", default="")


@pytest.fixture(scope="session", autouse=True)
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The settings, caches and state of this machine are the tests' own, also of a program that they start."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(tmp_path_factory.mktemp(kind.lower())))
        yield


def is_whole(path: str = os.devnull) -> bool:
    """True for a device that everybody may read and write, which swallows all."""
    found = Path(path).stat()
    return stat.S_ISCHR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o666


_WAS_WHOLE = is_whole()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test after which /dev/null is no device any more."""
    try:
        return (yield)
    finally:
        if _WAS_WHOLE and not is_whole():
            pytest.exit(f"{os.devnull} was damaged by {item.nodeid}, or by a test beside it", 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is collected stays to the end: it is not looked through for garbage again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
