"""Promise 13: when nothing happens the daemon commits nothing and uses next to no time of the processor."""

import os
from pathlib import Path

import pytest

from agent.background.maintenance import QUIET
from agent.clock import SystemClock
from tests.daemon.house import BRISK, furnish
from tests.daemon.process import environment, wait_for, watching
from tests.vaults import git, head, make_vault, write


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not tell how long a process worked")
@pytest.mark.parametrize("seconds", [5.0, pytest.param(600.0, marks=pytest.mark.chaos)])
def test_an_idle_daemon_does_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    settings = {**BRISK, "VAULT_AGENT_WATCH__QUIET_SECONDS": "0.2"}
    furnish(tmp_path / "home", monkeypatch.setenv, settings)
    notes = {f"notes/{n % 10}/{n}.md": f"# Note {n}\n\n{n} words of {n % 7} and more\n" for n in range(300)}
    root = make_vault(tmp_path, notes).place.root
    clock = SystemClock()
    with watching(root, environment(tmp_path / "home", settings)) as daemon:
        write(root / "last.md", "the last edit before the silence\n")
        wait_for(daemon, lambda: not git(root, "status", "--porcelain"), "the edit is committed")
        clock.sleep(QUIET + 2.0)  # what the daemon does when it has become quiet is done
        tip, used, began = head(root), worked(daemon.pid), clock.monotonic()
        clock.sleep(seconds)
        share = (worked(daemon.pid) - used) / (clock.monotonic() - began)
        assert head(root) == tip
        assert share < 0.01, f"{share:.1%} of the processor"


def worked(process: int) -> float:
    """The seconds that a process has kept a processor busy."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
