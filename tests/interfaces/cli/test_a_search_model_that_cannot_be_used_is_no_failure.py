"""A person names a model for search that is damaged or gone: every command works, and one line says what is wrong.

Changing the model and going back gives the same answers as before.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from itertools import cycle, product
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.config.load import variable
from agent.interfaces.cli.main import main
from agent.workspace.catch_up import catch_up, show_nothing
from agent.workspace.search_index import open_index
from tests.index.models import DAMAGES, static_model
from tests.vaults import make_vault

Captured = pytest.CaptureFixture[str]
NOTES = {
    "tea.md": "# Tea\n\nA cup of green tea is brewed at 80 degrees.\n",
    "garden.md": "# Garden\n\nThe spade is behind the kettle.\n",
}
SETTING, FIX = variable("index.model"), "vault-agent config set index.model shipped"
COMMANDS = {
    "search": ["search", "green tea"],
    "recall": ["recall", "green tea", "--all"],
    "status": ["status"],
    "doctor": ["doctor"],
    "reindex": ["reindex"],
    "ask": ["ask", "How is green tea brewed?"],
}
QUICK = [*zip([*DAMAGES][::2], cycle(COMMANDS), strict=False)]
OTHERS = [pytest.param(*each, marks=pytest.mark.chaos) for each in product(DAMAGES, COMMANDS) if each not in QUICK]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a vault and its settings."""
    folder = tmp_path_factory.mktemp("vault")
    make_vault(folder, NOTES)
    return folder


@pytest.fixture
def root(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault, with the working folder in it."""
    monkeypatch.setenv("VAULT_AGENT_HOME", str(place / "home"))
    found = next(path.parent for path in place.rglob("tea.md"))
    monkeypatch.chdir(found)
    return found


def named(monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    monkeypatch.setenv(SETTING, str(folder))
    return str(folder)


def vectors(capsys: Captured) -> object:
    """The vectors that `status` says are in use."""
    assert main(["--json", "status"]) == 0
    return json.loads(capsys.readouterr().out)["index"]["vectors"]


@pytest.mark.parametrize(("damage", "command"), [*QUICK, *OTHERS])
def test_every_command_works_and_one_line_says_what_is_wrong(
    damage: str, command: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    model = named(monkeypatch, tmp_path / "model")
    static_model().save_pretrained(Path(model))
    DAMAGES[damage](Path(model))
    assert main(COMMANDS[command]) == 0
    out, err = capsys.readouterr()
    lines = [line for line in (out + err).splitlines() if f"the model {model} " in line]
    if command == "status":
        assert lines == []  # it loads no model, and shows the one that the index was made with
    else:
        assert len(lines) == 1 and FIX in out + err
    if command in ("search", "recall", "ask"):
        assert "80 degrees" in out
    if command == "doctor":
        assert lines[0].startswith("warn  embedder: ") and "0 bad" in out
    assert vectors(capsys) in ("wordllama-l2-256", None)  # none before the first search


def test_a_model_that_is_whole_is_used_and_said(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    static_model().save_pretrained(tmp_path / "model")
    named(monkeypatch, tmp_path / "model")
    assert main(["search", "green tea"]) == 0
    assert "hybrid" in capsys.readouterr().out
    name = vectors(capsys)
    assert str(name).startswith("model@")
    assert main(["status"]) == 0
    assert f", {name})" in capsys.readouterr().out
    monkeypatch.delenv(SETTING)
    assert main(["search", "green tea"]) == 0


def test_another_model_makes_the_index_anew_and_the_way_back_gives_the_same_answers(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for seed, folder in enumerate(folders):
        static_model(seed).save_pretrained(folder)

    def answer(folder: Path) -> tuple[list[str], list[tuple[str, float]]]:
        named(monkeypatch, folder)
        workspace, said = open_workspace(root), list[str]()

        def show(text: str) -> AbstractContextManager[Callable[[int, int], object]]:
            said.append(text)
            return show_nothing(text)

        with closing(open_index(workspace)) as index:
            assert catch_up(workspace, index, show=show) is None
            found = index.search("cup tea spade", 5)
            assert (found.mode, found.degraded) == ("hybrid", None)
            return said, [(hit.path, hit.score) for hit in found.hits]

    said, first = answer(folders[0])
    assert "another model" in said[0]
    said, second = answer(folders[1])
    assert "another model" in said[0] and second != first
    assert answer(folders[1])[0] == [], "it is made anew only once"
    said, again = answer(folders[0])
    assert "another model" in said[0] and again == first


def test_what_is_asked_costs_the_same_with_a_model_that_knows_few_words(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Tokens are counted by the shipped tokenizer: a small vocabulary must not make a large prompt look small."""
    (tmp_path / "script.yaml").write_text("[]", "utf-8")
    monkeypatch.setenv("VAULT_AGENT_LLM__WIRE", "scripted")
    monkeypatch.setenv("VAULT_AGENT_LLM__SCRIPT", str(tmp_path / "script.yaml"))
    monkeypatch.setenv("VAULT_AGENT_LLM__WINDOW", "200000")

    def budget() -> object:
        assert main(["--json", "context", "--explain", "an antelope grazes beyond the hill"]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        return [row["tokens"] for row in rows if row["part"] in ("system", "history", "tools")]

    before = budget()
    static_model().save_pretrained(tmp_path / "model")
    named(monkeypatch, tmp_path / "model")
    assert budget() == before
