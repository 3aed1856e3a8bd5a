"""A further language is files that are added to the program: here German, of which a part is translated."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.interfaces.http.load import serving

ROOT = Path(__file__).parents[2]
ADDED = Path(__file__).with_name("added")
PARTS = ("agent", "configs", "vault_template", "skills", "hooks")


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The surroundings of a copy of the program to which files were added, and of a person."""
    folder = tmp_path_factory.mktemp("german")
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    before = {path for path in folder.rglob("*") if path.is_file()}
    shutil.copytree(ADDED, folder, dirs_exist_ok=True)
    assert not before & {folder / path.relative_to(ADDED) for path in ADDED.rglob("*") if path.is_file()}
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\nname = Anna\nemail = anna@example.org\n")
    kept = {name: os.environ[name] for name in ("PATH", "VAULT_AGENT_INDEX__EMBEDDER") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "PYTHONPATH": str(folder),
        "PYTHONSAFEPATH": "1",
        "LANG": "de_DE.UTF-8",
        "FOLDER": str(folder),
    }


@pytest.fixture(scope="module")
def vault(german: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("vault") / "v"
    run(german, root.parent, "init", str(root), "--language", "de", "--yes")
    (root / "Tee.md").write_text("# Tee\n\nGrüner Tee zieht zwei Minuten bei 70 Grad.\n", "utf-8")
    return root


def run(environ: Mapping[str, str], where: Path, *args: str) -> str:
    command = [sys.executable, "-m", "agent", *args]
    done = subprocess.run(command, cwd=where, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_vault_knows_its_language(vault: Path) -> None:
    assert "  language: de\n" in (vault / "vault-agent.yaml").read_text("utf-8")
    assert (vault / "MEMORY.md").is_file()  # there is no German template: the notes are English


def test_an_answer_is_german(german: Mapping[str, str], vault: Path) -> None:
    answer = run(german, vault, "ask", "Wie lange zieht grüner Tee?")
    assert answer.startswith("Es ist kein Sprachmodell eingerichtet") and "zwei Minuten" in answer


@pytest.mark.parametrize(
    ("asked", "line", "title"),
    [
        ("jeden Tag um 9 Uhr eine Zusammenfassung schreiben", "cron 0 9 * * *", "Eine Zusammenfassung schreiben"),
        ("jeden Montag um 8:30 Uhr die Woche planen", "cron 30 8 * * 1", "Die Woche planen"),
    ],
)
def test_a_job_is_made_of_a_german_sentence(
    asked: str, line: str, title: str, german: Mapping[str, str], vault: Path
) -> None:
    job = json.loads(run(german, vault, "jobs", "add", asked, "--json"))["job"]
    assert (job["on"], job["title"]) == ([line], title)


def test_the_terminal_is_german_where_it_is_translated(german: Mapping[str, str], vault: Path) -> None:
    assert run(german, vault, "needs").strip() == "nichts wartet auf dich"
    assert "jobs" in run(german, vault, "jobs")  # else English
    assert run(german, vault, "help", "jobs").startswith("# ")


def test_the_pages_are_german(german: Mapping[str, str], vault: Path) -> None:
    with serving(vault, dict(german)) as served, httpx.Client(base_url=f"http://127.0.0.1:{served.port}") as client:
        client.headers["Authorization"] = f"Bearer {served.token}"
        home = client.get("/")
        assert urlsplit(str(home.url)).hostname == "127.0.0.1" and home.status_code == 200
        assert '<html lang="de"' in home.text and "Heute" in home.text and ">English</button>" in home.text
        client.cookies.set("language", "zh")
        chosen = client.get("/")
        assert '<html lang="zh-CN"' in chosen.text and ">Deutsch</button>" in chosen.text
