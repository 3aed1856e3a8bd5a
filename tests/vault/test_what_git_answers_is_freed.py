"""The output of a git command is freed with it: a daemon looks for garbage that refers to itself only now and then."""

import gc
import weakref
from pathlib import Path

from tests.vaults import make_vault


def test_a_command_that_was_waited_for_refers_to_nothing_of_its_own(tmp_path: Path) -> None:
    git = make_vault(tmp_path / "vault").git
    gc.disable()
    try:
        running = git.start("rev-parse", "HEAD")
        process = weakref.ref(running.process.proc)
        assert running.wait()
        del running
        assert process() is None
    finally:
        gc.enable()
