"""The times of commands, each in a fresh process."""

import subprocess
import sys
from pathlib import Path

from agent.interfaces.cli.benches.figures import Figure, as_installed, paired
from agent.interfaces.cli.benches.vaults import build

LIMITS_MS = {"vault-agent --help": 150.0, "vault-agent remember": 500.0, "vault-agent status": 300.0}


def measure(folder: Path, notes: int, rounds: int) -> list[Figure]:
    """Cold starts of the commands that people wait for, in a vault of `notes` notes."""
    root = folder / "vault"
    build(root, notes)
    environment = {**as_installed(), "VAULT_AGENT_HOME": str(folder / "home")}

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "agent", "--vault", str(root), *arguments]
        subprocess.run(command, check=True, capture_output=True, env=environment)

    tasks = [
        ("vault-agent --help", lambda _: run("--help")),
        ("vault-agent remember", lambda number: run("remember", f"bench {number}")),
        ("vault-agent status", lambda _: run("status")),
    ]
    return paired(rounds, tasks)
