"""A vault for the commands' tests: the program is called as a person would call it, from inside the vault."""

import json
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.vault.change import Stamp
from agent.vault.store import Vault

Captured = pytest.CaptureFixture[str]


def enter(monkeypatch: pytest.MonkeyPatch, vault: Vault, home: Path) -> None:
    """Go into the vault, with settings and state of this test alone."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(home))
    monkeypatch.delenv("VAULT_AGENT_VAULT", raising=False)
    monkeypatch.chdir(vault.place.root)


def ask(capsys: Captured, *args: str, code: int = 0) -> dict[str, object]:
    """Run a command with `--json` and return its document."""
    assert main([*args, "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def tell(capsys: Captured, *args: str, code: int = 0) -> str:
    """Run a command and return what it says, standard error after standard output."""
    assert main(args) == code
    out, err = capsys.readouterr()
    return out + err


def edit(vault: Vault, path: str, text: str, stamp: Stamp, subject: str = "edit(notes): a note") -> str:
    """One commit of the agent's; returns its id."""
    before = vault.read(path)
    with vault.transaction(subject, stamp) as tx:
        if before is None:
            tx.create(path, text.encode())
        else:
            tx.edit(path, before, text.encode())
    assert tx.outcome.commit
    return tx.outcome.commit
