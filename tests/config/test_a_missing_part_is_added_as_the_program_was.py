"""The command that adds an optional part installs this program, by the tool that installed it, and none of its name."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from agent.config.program_parts import command_to_add


class Installed(metadata.PathDistribution):
    """This program as it is installed from an address."""

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder)
        (folder / "direct_url.json").write_text(json.dumps({"url": url} if url else {}))


@pytest.mark.parametrize(
    ("prefix", "url", "command"),
    [
        ("/home/a/.local/share/uv/tools/vault-agent", "file:///home/a/clone", "uv tool install --force '{}[mcp]'"),
        ("/home/a/.local/share/pipx/venvs/vault-agent", "file:///home/a/clone", "pipx install --force '{}[mcp]'"),
        ("/home/a/clone/.venv", "file:///home/a/clone", "{python} -m pip install '{}[mcp]'"),
        ("/home/a/.venv", "file:///home/a/my%20clone", "{python} -m pip install '/home/a/my clone[mcp]'"),
        ("/usr", "", "{python} -m pip install 'vault-agent[mcp]'"),
        ("/usr", "https://example.org/a.zip", "{python} -m pip install 'vault-agent[mcp] @ https://example.org/a.zip'"),
    ],
)
def test_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, url: str, command: str) -> None:
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed(tmp_path, url))
    assert command_to_add("mcp") == command.format("/home/a/clone", python=sys.executable)


def test_from_a_repository_it_is_fetched_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Installed(tmp_path, "https://example.org/agent.git")
    (tmp_path / "direct_url.json").write_text(
        json.dumps({"url": "https://example.org/agent.git", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}})
    )
    monkeypatch.setattr(metadata, "distribution", lambda name: found)
    assert command_to_add("mcp").endswith("install 'vault-agent[mcp] @ git+https://example.org/agent.git'")
