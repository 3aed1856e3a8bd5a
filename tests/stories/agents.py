"""A vault whose agent speaks from a script, asked through the real command line."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from agent.interfaces.cli.main import main
from agent.llm.messages import Context
from agent.loop.session import load_session
from agent.vault.store import Vault
from tests.vaults import make_vault

PROJECT = Path(__file__).parents[2]
NOTES = {
    "AGENT.md": "---\ntype: agent\n---\n# Who the agent is here\n\nBe brief.\n",
    "tea.md": "# Tea\n\nGreen tea in the morning.\n",
    "plan.md": "# Plan\n\n- buy tea\n",
}


def call(tool: str, **arguments: object) -> dict[str, object]:
    """A reply of the script that asks for one tool."""
    return {"calls": [{"tool": tool, "arguments": arguments}]}


def script(path: Path, *replies: object, **whole: object) -> Path:
    """Write a script for the model."""
    path.write_text(json.dumps({"replies": list(replies), **whole}), "utf-8")
    return path


def settings(folder: Path, said: Path | None = None) -> dict[str, str]:
    """The settings of a machine of its own under `folder`, whose model speaks from the script `said`."""
    brisk = {"VAULT_AGENT_HOME": str(folder / "home"), "VAULT_AGENT_GIT__DURABLE": "false"}
    brisk["VAULT_AGENT_MEMORY__LIFECYCLE"] = "off"  # what it does belongs to no run, and stays when one is undone
    brisk["VAULT_AGENT_GROWTH__CURIOSITY__UNPROMPTED"] = "false"  # it would look ahead, with a call of its own
    if said is None:
        return brisk
    return {**brisk, "VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(said)}


def furnish(folder: Path, put: Callable[[str, str], None], said: Path | None = None, under: str = "") -> Path:
    """A vault with `NOTES` under `folder`, and this process's environment made that of the machine; the vault. `under`
    is the folder of the agent's in it, with a slash."""
    for key, value in settings(folder, said).items():
        put(key, value)
    if not under:
        return make_vault(folder, NOTES).place.root
    laid = {under + path if path == "AGENT.md" else path: text for path, text in NOTES.items()}
    return make_vault(folder, {**laid, "vault-agent.yaml": f"vault:\n  folder: {under}\n"}).place.root


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """This machine's environment with these settings only."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("VAULT_AGENT_")}
    return {**kept, "PYTHONPATH": str(PROJECT), "NO_COLOR": "1", **own}


def given_texts(vault: Vault, session: str, source: str = "") -> list[str]:
    """What the model of a session was given beside what was said, or only that from one source; without the moment."""
    said = (each for each in load_session(vault, session).history if isinstance(each, Context))
    return [each.text for each in said if source in {"", each.source} and each.source != "moment"]


def command(root: Path, *words: str) -> list[str]:
    """The command line as a person would type it."""
    return [sys.executable, "-m", "agent", "--vault", str(root), *words]


def tell(root: Path, own: Mapping[str, str], *words: str, code: int = 0, said: str = "") -> str:
    """Run a command with `said` on its standard input; what it printed.

    It runs in this process, by the program's own entry point: a fresh one would load the same modules again.
    """
    out, errors = (TextIOWrapper(BytesIO(), "utf-8") for _ in range(2))
    before = dict(os.environ), sys.stdin
    try:
        os.environ.clear()
        os.environ.update(environment(own))
        sys.stdin = TextIOWrapper(BytesIO(said.encode()), "utf-8")
        with chdir(root), redirect_stdout(out), redirect_stderr(errors):
            found = main(["--vault", str(root), *words])
    finally:
        os.environ.clear()
        os.environ.update(before[0])
        sys.stdin = before[1]
    printed = _written(out)
    assert found == code, f"{words}: {found}\n{printed}\n{_written(errors)}"
    return printed


def _written(stream: TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def document(root: Path, own: Mapping[str, str], *words: str, code: int = 0) -> dict[str, Any]:
    """The same with `--json`; its document."""
    found = json.loads(tell(root, own, "--json", *words, code=code))
    assert isinstance(found, dict)
    return found


def ticked(text: str, box: str) -> str:
    """A note's text with this box ticked, as a person would."""
    assert f"- [ ] {box}\n" in text
    return text.replace(f"- [ ] {box}\n", f"- [x] {box}\n")


def only(paths: Sequence[Path]) -> Path:
    """The one path of these."""
    (path,) = paths
    return path
