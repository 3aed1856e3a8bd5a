"""What stands on the cards of a canvas and in a table of notes is found as the text of notes is; private ones are not,
nor are the agent's own tables."""

import json
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Stamp
from tests.stories.agents import document, furnish, settings, tell
from tests.vaults import write

BOARD = json.dumps(
    {
        "nodes": [
            {"id": "1", "type": "text", "text": "Order the zellige tiles for the bathroom", "x": 0, "y": 0},
            {"id": "2", "type": "file", "file": "house/Grouting.md", "x": 0, "y": 90},
            {"id": "3", "type": "text", "text": "浴室的瓷砖要订四十片", "x": 0, "y": 190},
        ]
    },
    indent=2,
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = furnish(tmp_path, monkeypatch.setenv)
    write(made / "boards/Bathroom.canvas", BOARD)
    write(made / "Bücher.base", "filters: file.hasTag('novel')\nviews:\n  - {type: table, name: Unread novels}\n")
    write(made / "jobs.base", "views:\n  - {type: table, name: Unread jobs}\n")
    write(made / "broken.canvas", '{"nodes": [')
    return made


def found(root: Path, query: str) -> list[tuple[str, str]]:
    hits = document(root, settings(root.parent), "search", query)["hits"]
    return [(each["path"], each["passage"]) for each in hits]


def test_a_card_a_file_on_the_board_and_a_view_are_found(root: Path) -> None:
    tell(root, settings(root.parent), "index")
    assert found(root, "zellige tiles")[0] == ("boards/Bathroom.canvas", "Order the zellige tiles for the bathroom")
    assert found(root, "瓷砖")[0] == ("boards/Bathroom.canvas", "浴室的瓷砖要订四十片")
    assert found(root, "grouting")[0][0] == "boards/Bathroom.canvas"
    assert [path for path, _ in found(root, "unread kind:attachment")] == ["Bücher.base"]


def test_a_damaged_one_is_named(root: Path) -> None:
    assert "broken.canvas" in tell(root, settings(root.parent), "index")


def test_a_private_one_is_not_found(root: Path) -> None:
    write(root / "vault-agent.yaml", (root / "vault-agent.yaml").read_text("utf-8") + "vault:\n  private: boards/\n")
    tell(root, settings(root.parent), "index")
    assert not any(path.endswith(".canvas") for path, _ in found(root, "zellige tiles"))


def test_a_card_that_a_tainted_run_wrote_is_a_strangers_whatever_its_line(root: Path) -> None:
    vault = open_workspace(root).vault
    origin = text_origin_of(vault)
    run = "01K0000000000000000000000B"
    origin.remember(run, BOARD.encode(), b"", ["https://example.org"])
    with vault.transaction("vault(write): a board", Stamp("agent", run=run)) as change:
        change.create("boards/Other.canvas", BOARD.replace('"1"', '"9"').encode())
    data = vault.read("boards/Other.canvas") or b""
    assert origin.source("boards/Other.canvas", data, (1, 1)) != ""
