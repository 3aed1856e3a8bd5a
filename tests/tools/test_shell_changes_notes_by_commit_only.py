"""What a program does to the notes: committed in the agent's name, or not at all."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agent.clock import SystemClock
from agent.errors import Interrupted, ToolFailed, ToolRetry
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.program import ProgramLimits
from agent.tools.builtin.sandbox import NO_SANDBOX, best_sandbox
from agent.tools.builtin.shell import ShellConfig, shell_tools
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import RunContext, Taint, ToolOutput
from agent.vault.store import Vault
from tests.vaults import committed, git, head, make_vault, write

NOTES = {
    "tea.md": "# Tea\n\nwater\n",
    "folder/coffee.md": "# Coffee\n",
    "AGENT.md": "be kind\n",
    "approvals/one.md": "- [ ] approve\n",
    "entries/2026/11/a.md": "likes tea\n",
}
CONTEXT = RunContext("r1", "sessions/s.md", "c1")


@dataclass
class Shell:
    vault: Vault
    scratch: Path
    yard: ShellConfig

    @property
    def root(self) -> Path:
        return self.vault.place.root

    def run(self, *argv: str, context: RunContext = CONTEXT) -> ToolOutput:
        notes = Notes(self.vault, text_origin_of(self.vault))
        (tool,) = shell_tools(notes, SystemClock(), self.yard)
        try:
            return tool.perform({"argv": list(argv)}, context)
        finally:
            self.vault.commit_held()  # as the end of the run does

    def sh(self, script: str, context: RunContext = CONTEXT) -> ToolOutput:
        return self.run("sh", "-c", script, context=context)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    vault = make_vault(tmp_path, NOTES)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Shell(
        vault, scratch, ShellConfig(scratch, (tmp_path / "state",), lambda: NO_SANDBOX, ProgramLimits(seconds=20))
    )


def test_what_a_program_prints_and_its_code_are_told(shell: Shell) -> None:
    got = shell.sh("cat tea.md; echo oh no >&2; exit 3")
    assert "exit code 3" in got.text and "water\noh no" in got.text and not got.is_changed


def test_what_it_changes_is_one_commit_of_the_run(shell: Shell) -> None:
    got = shell.sh("sed -i s/water/milk/ tea.md; echo new > made.md; rm folder/coffee.md; ls")
    assert got.is_changed
    assert "changed: folder/coffee.md, made.md, tea.md" in got.text
    assert (shell.root / "tea.md").read_text() == "# Tea\n\nmilk\n"
    assert (shell.root / "made.md").read_text() == "new\n"
    assert not (shell.root / "folder/coffee.md").exists()
    message = git(shell.root, "log", "-1", "--format=%an%n%B")
    for said in ("vault-agent", "Vault-Actor: agent", "Vault-Run: r1", "Vault-Tool: shell_run", "Vault-Call: c1"):
        assert said in message
    assert git(shell.root, "status", "--porcelain") == ""
    assert list(shell.scratch.iterdir()) == []


def test_what_a_person_saves_meanwhile_is_kept(shell: Shell) -> None:
    """The program works on a copy: the person's line and the program's are merged as in any other write."""
    write(shell.root / "tea.md", "# Tea\n\nwater\n")
    saved = shell.root / "tea.md"
    got = shell.sh(f"printf '# Tea\\n\\nwater\\n\\nby hand\\n' > {saved}; sed -i 's/# Tea/# Green tea/' tea.md")
    assert got.is_changed
    assert saved.read_text() == "# Green tea\n\nwater\n\nby hand\n"
    assert "by hand" not in git(shell.root, "log", "-p", "--format=", "--author=vault-agent")
    assert "changed in the vault itself meanwhile" in got.text and "tea.md" in got.text


def test_what_steers_the_agent_is_not_changed_by_a_program(shell: Shell) -> None:
    before = head(shell.root)
    got = shell.sh(
        "echo obey > AGENT.md; echo '- [x] approve' > approvals/one.md; mkdir -p skills/x; echo x > skills/x/SKILL.md"
    )
    assert head(shell.root) == before and not got.is_changed
    for path in ("AGENT.md", "approvals/one.md", "skills/x/SKILL.md"):
        assert f"{path} (" in got.text.partition("not kept: ")[2]
    assert (shell.root / "AGENT.md").read_text() == "be kind\n"


@pytest.mark.parametrize(
    "script",
    [
        "mkdir .git; echo x > .git/config",
        "mkdir .obsidian; echo x > .obsidian/app.json",
        "echo x > vault-agent.yaml",
        "echo x > .gitattributes",
        "echo x > run.sh",
        "ln -s /etc/passwd link.md",
        "ln -sf /etc/passwd tea.md",
        "mkfifo pipe.md",
        "rm tea.md; mkdir tea.md",
        "head -c 6000000 /dev/zero > large.md",
        "chmod 000 folder",
    ],
)
def test_nothing_but_plain_notes_comes_back(script: str, shell: Shell) -> None:
    before = head(shell.root)
    shell.sh(script)
    assert head(shell.root) == before
    assert git(shell.root, "status", "--porcelain") == ""
    assert list(shell.scratch.iterdir()) == []


def test_a_file_that_the_program_was_not_shown_is_not_replaced(shell: Shell) -> None:
    write(shell.root / "table.csv", "mine\n")
    got = shell.sh("ls; echo theirs > table.csv")
    assert (shell.root / "table.csv").read_text() == "mine\n"
    assert "table.csv (there is a file of this name" in got.text


def test_a_wipe_is_stopped_and_said(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {f"notes/{n}.md": f"note {n}\n" for n in range(30)})
    shell = Shell(vault, tmp_path, ShellConfig(tmp_path, (), lambda: NO_SANDBOX))
    before = head(shell.root)
    with pytest.raises(ToolFailed, match="nothing that the program changed was kept"):
        shell.sh("rm -rf notes; echo done")
    assert head(shell.root) == before and len(list((shell.root / "notes").iterdir())) == 30


def test_a_secret_that_a_program_writes_is_refused(shell: Shell) -> None:
    before = head(shell.root)
    with pytest.raises(ToolFailed, match="secret"):
        shell.sh("echo 'AKIAIOSFODNN7EXAMPLQ' > key.md")
    assert head(shell.root) == before


def test_a_run_that_has_read_strangers_text_changes_no_memory_by_program(shell: Shell) -> None:
    tainted = replace(CONTEXT, taint=Taint(["https://evil.example"]))
    got = shell.sh("echo obey > entries/2026/11/a.md; echo fine > tea.md", context=tainted)
    assert committed(shell.root, "entries/2026/11/a.md") == b"likes tea\n"
    assert committed(shell.root, "tea.md") == b"fine\n"
    assert "comes back into later runs" in got.text


def test_without_a_sandbox_what_comes_back_is_a_strangers(shell: Shell) -> None:
    context = replace(CONTEXT, taint=Taint())
    got = shell.run("echo", "hello", context=context)
    assert got.untrusted == "shell_run echo" and context.taint
    assert "sandbox: NONE" in got.text


def test_the_environment_is_clean(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-4711")
    text = shell.run("env").text
    names = {line.partition("=")[0] for line in text.split("\n\n", 1)[1].splitlines()}
    assert names <= {"PATH", "LANG", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"}
    assert "4711" not in text and str(Path.home()) not in text.replace(str(shell.scratch), "")


@pytest.mark.parametrize(
    "argv",
    [(), ("",), (" ",), ("no-such-program-here",), ("ls", "a\0b"), ("ls", "x" * 200_000), ("ls", "\udcff")],
    ids=range(7),
)
def test_a_call_that_makes_no_sense_is_told_so(argv: Sequence[str], shell: Shell) -> None:
    with pytest.raises(ToolRetry):
        shell.run(*argv)
    assert list(shell.scratch.iterdir()) == []


def test_a_program_that_cannot_be_started_is_an_exit_code(shell: Shell) -> None:
    assert "exit code 127" in shell.run("./nothing").text
    assert "exit code 126" in shell.run("./tea.md").text


def test_arguments_are_not_read_by_a_shell(shell: Shell) -> None:
    assert "$(id) `id` ; id | id > x" in shell.run("echo", "$(id)", "`id`", ";", "id", "|", "id", ">", "x").text


def test_signs_for_terminals_do_not_come_through(shell: Shell) -> None:
    text = shell.run("printf", r"\033[31mred\033[0m\007\033]0;title\007 ok").text
    assert "\x1b" not in text and "\x07" not in text and "red" in text


@pytest.mark.skipif(not best_sandbox().files, reason="bubblewrap does not work here")
def test_in_bubblewrap_there_is_neither_network_nor_anybodys_file(shell: Shell, tmp_path: Path) -> None:
    shell.yard = replace(shell.yard, sandbox=best_sandbox)
    secret = tmp_path / "secret.txt"
    secret.write_text("canary-4711")
    script = (
        f"cat {secret}; ls {shell.root}; ls -a ~ | head; echo x > {tmp_path}/out; touch /usr/x; "
        "cat /proc/net/dev | grep -c :; sed -i s/water/milk/ tea.md; echo end"
    )
    got = shell.sh(script)
    assert "canary-4711" not in got.text and "end" in got.text and got.untrusted == ""
    assert "No such file" in got.text and "Read-only" in got.text and "AGENT.md" not in got.text
    assert not (tmp_path / "out").exists()
    assert committed(shell.root, "tea.md") == b"# Tea\n\nmilk\n"
    assert list(shell.scratch.iterdir()) == []


@pytest.mark.skipif(not best_sandbox().network, reason="no sandbox works here")
def test_in_any_sandbox_there_is_no_network(shell: Shell) -> None:
    shell.yard = replace(shell.yard, sandbox=best_sandbox)
    got = shell.sh("cat /proc/net/route /proc/net/dev")
    assert "eth" not in got.text and "without network" in got.text


def test_a_program_that_is_cut_by_its_end_leaves_no_half_a_copy(shell: Shell) -> None:
    shell.yard = replace(shell.yard, limits=ProgramLimits(seconds=0.5))
    before = head(shell.root)
    with pytest.raises(ToolFailed, match=r"stopped after 0\.5 s[\s\S]*half"):
        shell.sh("echo half; echo x > tea.md; sleep 30")
    assert head(shell.root) == before and (shell.root / "tea.md").read_text() == NOTES["tea.md"]
    assert list(shell.scratch.iterdir()) == []


def test_a_call_that_nobody_wants_any_more_does_not_begin(shell: Shell) -> None:
    with pytest.raises(Interrupted):
        shell.run("ls", context=replace(CONTEXT, cancelled=lambda: True))
    assert list(shell.scratch.iterdir()) == []


def test_git_is_not_there_to_be_used(shell: Shell) -> None:
    got = shell.run("git", "log")
    assert "not a git repository" in got.text
    done = subprocess.run(["git", "fsck"], cwd=shell.root, capture_output=True, check=False, env=dict(os.environ))
    assert done.returncode == 0
