"""A research on a terminal: its steps are shown while they are done, and Ctrl-C keeps what was found and says where."""

import subprocess
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.texts import LANGUAGES, Language, text
from tests.growth.research.services import service
from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import command, environment
from tests.vaults import make_vault

NOTES = {
    "pond.md": "# Garden pond\n\nThe garden pond is 90 cm deep, so the fish live through the winter.\n",
    "fish.md": "# Fish\n\nFour fish live in the garden pond since 2024.\n",
}
TOPIC = "Fish in the garden pond"


@pytest.mark.parametrize("language", LANGUAGES)
def test_ctrl_c_keeps_what_was_found_and_says_where(tmp_path: Path, language: Language) -> None:
    stopped = text("research.stopped", language, calls=2, most=20)
    root = make_vault(tmp_path, NOTES).place.root
    (root / "vault-agent.yaml").write_text(f"vault:\n  language: {language}\n")
    with service("searxng") as engine:
        engine.hold()
        own = {"VAULT_AGENT_HOME": str(tmp_path / "home"), "VAULT_AGENT_RESEARCH__SEARXNG__BASE_URL": engine.url}
        with terminal(root, own, "research", TOPIC) as screen:
            screen.shows(f"SearXNG: {TOPIC}")
            screen.shows("$0.0000")
            screen.type("\x03")
            assert screen.ends() == 1
            said = screen.seen
        note = (root / f"research/{TOPIC}.md").read_text("utf-8")
        assert f"research/{TOPIC}.md" in said and "Traceback" not in said and "90 cm deep" in said
        assert "90 cm deep" in note and "Four fish live" in note
        assert f"> [!warning] {stopped}" in note and stopped[:20] in said
        engine.free.set()
        again = subprocess.run(
            command(root, "research", TOPIC), env=environment(own), capture_output=True, text=True, check=False
        )
    assert again.returncode == 0, again.stderr
    note = (root / f"research/{TOPIC}.md").read_text("utf-8")
    assert note.count("[!warning]") == 1 and note.count("90 cm deep") > 1, "it is done anew, below"


def test_where_nothing_is_found_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    root = make_vault(tmp_path, {}).place.root
    main(["--vault", str(root), "research", "xylophones in the attic"])
    assert "nothing was found; the note says where" in capsys.readouterr().err
