"""Looks for inputs that a reader cannot take: `python -m tests.fuzz [TARGET…] [--seconds 600]`, with atheris
(`pip install atheris`), which is no part of an environment for development.

Each target runs in a process of its own, bounded in time and memory. An input that fails is kept in `found/TARGET/`,
where the tests read it from then on.
"""

import argparse
import gc
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType

from tests.fuzz.targets import TARGETS

FOUND = Path(__file__).with_name("found")
_MEGABYTES = 2_000
_LONGEST_INPUT = 65_536
_FOLLOWED = frozenset(("agent", "yaml", "icalendar", "email", "zipfile", "csv"))
"""Whose steps show the fuzzer that an input is new: with all that is loaded, minutes go by before the first one."""


def run(name: str, seconds: int) -> bool:
    """Whether a target took all that was tried."""
    kept = FOUND / name
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(TARGETS[name].seeds):
            (Path(corpus) / str(number)).write_bytes(seed)
        kept.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-m", "tests.fuzz", "--inside", name),
            *(corpus, str(kept), f"-max_total_time={seconds}", f"-timeout={TARGETS[name].seconds:.0f}"),
            *(f"-max_len={_LONGEST_INPUT}", f"-rss_limit_mb={_MEGABYTES}", f"-artifact_prefix={kept}/"),
            *("-print_final_stats=1", "-verbosity=0"),
        ]
        done = subprocess.run(command, check=False)
    if not any(kept.iterdir()):
        kept.rmdir()
    return done.returncode == 0


def inside(name: str, options: list[str]) -> None:
    """Fuzz in this process, until the time is up or an input fails."""
    atheris = import_module("atheris")
    target = TARGETS[name]
    target.read(target.seeds[0])  # what is loaded late is there now
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and str(function.__module__).partition(".")[0] in _FOLLOWED:
            atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], *options], target.read)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    given = parser.parse_args()
    if find_spec("atheris") is None:
        parser.error("the fuzzer is not installed: pip install atheris")
    failed = [name for name in given.targets or TARGETS if not run(name, given.seconds)]
    sys.stdout.write(f"failed: {', '.join(failed) or 'none'}\n")
    sys.exit(bool(failed))
