"""`vault-agent node` as a process: one line when it listens, no request without the token, and an end by a signal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest


@pytest.mark.parametrize("ends_by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_listens_and_ends(tmp_path: Path, ends_by: signal.Signals) -> None:
    environ = {**os.environ, "VAULT_AGENT_HOME": str(tmp_path), "VAULT_AGENT_NODE__TOOLS__CLIPBOARD": "false"}
    command = [sys.executable, "-m", "agent", "--json", "node", "--port", "0"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        told = json.loads(host.stdout.readline())
        token_file = Path(told["token_file"])
        assert token_file.stat().st_mode & 0o777 == 0o600
        headers = {"Authorization": f"Bearer {token_file.read_text().strip()}"}
        with httpx.Client(base_url=told["url"], trust_env=False) as client:
            assert client.get("/api/v1/tools").status_code == 401
            names = [each["name"] for each in client.get("/api/v1/tools", headers=headers).json()["tools"]]
            assert len(names) == 7 and "clipboard" not in names
        host.send_signal(ends_by)
        assert host.wait(60) == 0
        assert host.stdout.read() == ""
