"""The git hooks, through a real git: what a person commits is checked as it is staged, and secrets stay unprinted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.vaults import git, make_vault, write

TOKEN = "ghp_" + "aZ3kQ9xT7bLm2NcV8sDf5GhJ6pRw4YeU1iOq"
BROKEN = "---\ntitle: [unclosed\n---\ntext\n"


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    return make_vault(tmp_path, {"note.md": "hello\n"}).place.root


def check(vault: Path) -> int:
    return main(["--vault", str(vault), "hook", "pre-commit"])


def test_good_notes_pass_in_silence(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(vault / "new.md", "---\ntitle: fine\n---\ntext\n")
    git(vault, "add", "-A")
    assert check(vault) == 0
    assert capsys.readouterr().out == ""


def test_problems_are_listed_by_line_and_the_secret_itself_is_not_shown(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault / "broken.md", BROKEN)
    write(vault / "config.txt", f"a\nb {TOKEN}\n")
    git(vault, "add", "-A")
    assert check(vault) == 1
    out = capsys.readouterr().out
    assert "config.txt:2: this looks like a secret (GitHub token)" in out
    assert any(line.startswith("broken.md:") and "header" in line for line in out.splitlines())
    assert TOKEN not in out and "allow-secret" in out


def test_what_counts_is_what_is_staged_and_not_the_file(vault: Path) -> None:
    write(vault / "note.md", f"{TOKEN}\n")
    assert check(vault) == 0
    git(vault, "add", "-A")
    write(vault / "note.md", "clean again\n")
    assert check(vault) == 1


def test_what_is_committed_already_is_not_complained_about(vault: Path) -> None:
    write(vault / "old.md", f"{TOKEN}\n")
    git(vault, "add", "-A")
    git(vault, "commit", "-q", "--no-verify", "-m", "old")
    write(vault / "note.md", "more\n")
    git(vault, "add", "-A")
    assert check(vault) == 0


def test_a_first_commit_a_binary_file_a_link_and_a_removal_are_fine(vault: Path) -> None:
    git(vault, "update-ref", "-d", "HEAD")
    write(vault / "image.png", b"\x89PNG\0" + TOKEN.encode())
    (vault / "link.md").symlink_to("note.md")
    git(vault, "add", "-A")
    git(vault, "rm", "-q", "--cached", "note.md")
    assert check(vault) == 0


def test_a_submodule_with_bad_settings_does_not_switch_the_check_off(vault: Path) -> None:
    write(vault / ".gitmodules", '[submodule "m"]\n\tpath = m\n\turl = x\n\tupdate = !touch ran\n')
    write(vault / "note.md", f"{TOKEN}\n")
    git(vault, "add", "-A")
    git(vault, "update-index", "--add", "--cacheinfo", f"160000,{git(vault, 'rev-parse', 'HEAD').strip()},m")
    assert check(vault) == 1


def test_json_lists_every_problem(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(vault / "note.md", f"{TOKEN}\n")
    git(vault, "add", "-A")
    assert main(["--vault", str(vault), "--json", "hook", "pre-commit"]) == 1
    assert capsys.readouterr().out.count('"line": 1') == 1


@pytest.mark.parametrize("arguments", [["-a"], ["note.md"], ["-p"]])
def test_every_way_to_commit_is_checked_with_its_own_index(vault: Path, arguments: list[str]) -> None:
    """`git commit -a` and `git commit PATH` use another index file, which only the hook's environment names."""
    hook = vault / ".git/hooks/pre-commit"
    script = (Path(__file__).parents[3] / "hooks/pre-commit").read_text()
    program = vault.parent / "vault-agent"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agent "$@"\n')
    program.chmod(0o755)
    hook.write_text(script.replace("program='vault-agent'", f"program='{program}'"))
    hook.chmod(0o755)
    write(vault / "note.md", f"hello\n{TOKEN}\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "x", *arguments]
    result = subprocess.run(command, cwd=vault, env=environment, input=b"y\n", capture_output=True, check=False)
    assert result.returncode == 1, result.stderr
    assert b"note.md:2" in result.stderr and TOKEN.encode() not in result.stderr


def test_rescan_never_fails_even_where_there_is_no_repository(vault: Path) -> None:
    assert main(["--vault", str(vault), "hook", "rescan"]) == 0
    (vault / ".git").rename(vault.parent / "gone")
    assert main(["--vault", str(vault), "hook", "rescan"]) == 0


def test_five_hundred_staged_notes_are_all_looked_at(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(500):
        write(vault / f"n/{number}.md", f"---\nid: {number}\n---\ntext\n{TOKEN if number % 100 == 0 else ''}\n")
    git(vault, "add", "-A")
    assert check(vault) == 1
    assert sum(":5: " in line for line in capsys.readouterr().out.splitlines()) == 5


DAILY = "---\ncreated: {{date}}\ntags:\n  - daily\n---\n# {{title}}\n"
TEMPLATES = {
    "Templates/Daily.md": DAILY,
    "x/templater.md": '---\ntitle: <% tp.file.title %>\ncreated: <% tp.date.now("YYYY-MM-DD") %>\n---\ntext\n',
    "x/script.md": "---\n<%* const a = await tp.system.prompt('a: ');\n -%>\nname: <% a %>\n---\ntext\n",
    "x/quickadd.md": "---\n{{VALUE:name}}: {{VALUE}}\n{{VALUE:other}}: [{{DATE:gggg}}, {{TIME}}]\n---\n",
    "x/windows.md": "---\r\naliases: [{{title}}]\r\nwhen: {{date:YYYY-MM-DD}}T{{time}}\r\n---\r\n",
}


@pytest.mark.parametrize("path", TEMPLATES)
def test_a_template_passes_in_silence(vault: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(vault / path, TEMPLATES[path])
    git(vault, "add", "-A")
    assert check(vault) == 0 and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (".obsidian/templates.json", '{"folder": "forms/"}'),
        (".obsidian/daily-notes.json", '{"template": "forms/one"}'),
        (".obsidian/plugins/templater-obsidian/data.json", '{"templates_folder": "/forms"}'),
        (".obsidian/plugins/quickadd/data.json", '{"templateFolderPath": "forms"}'),
    ],
)
def test_a_template_is_known_by_its_folder(
    vault: Path, settings: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault / settings, text)
    write(vault / "forms/one.md", BROKEN)
    write(vault / "forms.md", BROKEN)
    git(vault, "add", "-A")
    assert check(vault) == 0
    said = capsys.readouterr().out
    assert "forms.md" in said and "one.md" not in said


@pytest.mark.parametrize(
    "text", [BROKEN, "---\na: 1\na: 2\n---\n", "---\nthis is no yaml\n---\n", "---\nx: {{a}\n---\n"]
)
def test_a_header_of_the_person_s_own_is_named_and_committed(
    vault: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault / "mine.md", text)
    git(vault, "add", "-A")
    assert check(vault) == 0
    assert "mine.md:" in (said := capsys.readouterr().out) and "committed as it is" in said


@pytest.mark.parametrize(
    "text",
    [
        "---\n<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> other\n---\ntext\n",
        "---\nb: {{date}}\n<<<<<<< HEAD\na: 1\n---\nmine\n=======\na: 2\n---\ntheirs\n>>>>>>> other\n",
    ],
)
def test_the_marks_of_a_merge_in_a_header_stop_the_commit(vault: Path, text: str) -> None:
    write(vault / "mine.md", text)
    git(vault, "add", "-A")
    assert check(vault) == 1


def test_a_secret_in_a_template_stops_the_commit(vault: Path) -> None:
    write(vault / "Templates/Daily.md", DAILY + TOKEN + "\n")
    git(vault, "add", "-A")
    assert check(vault) == 1


def test_the_doctor_does_not_complain_of_templates(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path, text in TEMPLATES.items():
        write(vault / path, text)
    main(["--vault", str(vault), "doctor"])
    assert "header that cannot be read" not in capsys.readouterr().out
    write(vault / "mine.md", BROKEN)
    main(["--vault", str(vault), "doctor"])
    assert "mine.md" in capsys.readouterr().out
