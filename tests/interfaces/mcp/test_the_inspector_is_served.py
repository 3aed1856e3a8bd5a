"""The inspector of the protocol's makers, on its command line; skipped where npm is not here."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.interfaces.mcp.programs import command
from tests.stories.agents import PROJECT, environment, furnish, settings

INSPECTOR = "@modelcontextprotocol/inspector"
SECONDS = 240


@pytest.mark.chaos
@pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not here")
def test_the_inspector_lists_and_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = furnish(tmp_path, monkeypatch.setenv)

    def inspect(*words: str) -> dict[str, object]:
        server = ["env", f"PYTHONPATH={PROJECT}", *(f"{k}={v}" for k, v in settings(tmp_path).items()), *command(root)]
        line = ["npx", "--yes", INSPECTOR, "--cli", *server, *words]
        ended = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, env=environment({}), check=False)
        assert ended.returncode == 0, ended.stderr
        found: dict[str, object] = json.loads(ended.stdout)
        return found

    listed = inspect("--method", "tools/list")["tools"]
    assert isinstance(listed, list) and "write" in {each["name"] for each in listed}
    given = ["--tool-arg", "path=new.md", "--tool-arg", "content=# New"]
    assert "commit" in str(inspect("--method", "tools/call", "--tool-name", "write", *given))
    assert (root / "new.md").is_file()
    assert "note:///new.md" in str(inspect("--method", "resources/list"))
    assert "daily-planning" in str(inspect("--method", "prompts/list"))
