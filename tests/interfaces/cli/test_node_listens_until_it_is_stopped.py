"""`vault-agent node` as a process: one line when it listens, no request without the token, and an end by a signal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.processes import ended, started

DEAF = ("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh")
"""Starts a program that ignores the signals of a terminal, as a shell does in the background or after `nohup`."""


@pytest.mark.parametrize(
    ("ends_by", "before"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGHUP, ()), (signal.SIGTERM, DEAF)],
)
def test_it_listens_and_ends(tmp_path: Path, ends_by: signal.Signals, before: tuple[str, ...]) -> None:
    environ = {**os.environ, "VAULT_AGENT_HOME": str(tmp_path), "VAULT_AGENT_NODE__TOOLS__CLIPBOARD": "false"}
    command = [*before, sys.executable, "-m", "agent", "--json", "node", "--port", "0"]
    with started(command, env=environ, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        told = json.loads(host.stdout.readline())
        token_file = Path(told["token_file"])
        assert token_file.stat().st_mode & 0o777 == 0o600
        headers = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
        with httpx.Client(base_url=told["url"], trust_env=False) as client:
            assert client.get("/api/v1/tools").status_code == 401
            names = [each["name"] for each in client.get("/api/v1/tools", headers=headers).json()["tools"]]
            assert len(names) == 7 and "clipboard" not in names
        assert ended(host, ends_by) == 0
        assert host.stdout.read() == ""
