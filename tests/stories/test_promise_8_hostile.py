"""Promise 8: a hostile vault runs nothing, and no path leads outside the vault.

50 vaults by combination in full, 6 in CI, each under every command; 1,500 path attacks in full, 150 in CI. The
harness has its own ledger: canary files that any executed command would leave, and a listing of everything outside.
"""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.errors import AgentError, UserError
from agent.interfaces.cli.main import main
from agent.platform.here import platform
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.stories.hostile import BREAKING, Ground, commands_in_settings, filters, hooks, lay_traps, listing, prepare
from tests.vaults import git, make_vault, write

STAMP = Stamp("agent", tool="test")
COMMANDS = [
    ["init", "."], ["status"], ["remember", "something"], ["get", "a.md"], ["get", "note.md"], ["log"], ["diff"],
    ["diff", "HEAD"], ["commit"], ["undo", "HEAD"], ["undo", "--since", "1h"], ["hook", "pre-commit"],
    ["hook", "rescan"], ["doctor"], ["doctor", "--fix"], ["config", "list"], ["init", ".", "--hooks", "--restore"],
    ["ask", "what is here?"], ["context", "--explain", "what is here?"], ["approvals"], ["questions"],
]  # fmt: skip
SECRET = "the secret of the house"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))


def attack(
    top: Path, number: int, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> dict[str, object]:
    """Run every command in the hostile vault with this number; what went wrong by name, empty when nothing did."""
    ground, traps = lay_traps(top, number)
    outside = listing(ground.outside)
    monkeypatch.chdir(ground.vault)
    wrong: dict[str, object] = {}
    for command in COMMANDS:
        code = main(command)
        shown = capsysbinary.readouterr()
        if code not in {0, 1, 2, 75}:
            wrong[f"{command} exit {code}"] = shown.err
        if SECRET.encode() in shown.out + shown.err:
            wrong[f"{command} read outside"] = shown.out
        ran = sorted(path.name for path in ground.canaries.iterdir())
        if ran:
            wrong[f"{command} ran"] = ran
            break
    if listing(ground.outside) != outside:
        wrong["outside"] = {*listing(ground.outside).items()} ^ {*outside.items()}
    lost = ground.lost()
    if lost:
        wrong["lost"] = lost
    if wrong:
        wrong["traps"] = traps
    return wrong


@pytest.mark.parametrize("number", range(6))
def test_a_hostile_vault_runs_nothing(
    tmp_path: Path, number: int, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attack(tmp_path, number, capsysbinary, monkeypatch) == {}


@pytest.mark.chaos
@pytest.mark.parametrize("number", range(50))
def test_a_hostile_vault_runs_nothing_in_full(
    tmp_path: Path, number: int, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attack(tmp_path, number, capsysbinary, monkeypatch) == {}


@pytest.mark.parametrize("trap", [commands_in_settings, filters, hooks])
def test_the_traps_are_real_for_an_ordinary_git(tmp_path: Path, trap: Callable[[Ground], None]) -> None:
    ground = prepare(tmp_path)
    trap(ground)
    ground.armed()
    git(ground.vault, "status", check=False)
    git(ground.vault, "commit", "-qam", "x", check=False)
    assert any(ground.canaries.iterdir())


@pytest.mark.parametrize("trap", BREAKING)
def test_a_repository_that_leads_elsewhere_is_refused_with_a_reason(
    tmp_path: Path,
    trap: Callable[[Ground], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ground = prepare(tmp_path)
    trap(ground)
    ground.armed()
    monkeypatch.chdir(ground.vault)
    outside = listing(ground.outside)
    assert main(["--json", "remember", "something"]) == 2
    assert "is a link" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["doctor"]) == 1
    assert listing(ground.outside) == outside


def test_a_new_vault_takes_no_hooks_from_a_template_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "template/hooks/post-commit", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "template/hooks/post-commit").chmod(0o755)
    write(tmp_path / "gitconfig", f"[init]\n\ttemplateDir = {tmp_path}/template\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert main(["init", "--yes", str(tmp_path / "vault")]) == 0
    assert not (tmp_path / "vault/.git/hooks").exists() and not (tmp_path / "ran").exists()


def test_what_the_environment_of_another_git_says_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = prepare(tmp_path)
    other = make_vault(tmp_path / "other").place
    before = git(other.root, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", ground.program("env"))
    monkeypatch.setenv("GIT_DIR", str(other.gitdir))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.gitdir / "index"))
    for command in (["remember", "x"], ["diff"], ["status"]):
        main(["--vault", str(ground.vault), *command])
    assert git(other.root, "rev-parse", "HEAD") == before
    assert git(ground.vault, "log", "-1", "--format=%s").startswith("memory(entry)")
    assert list(ground.canaries.iterdir()) == []


# Paths

STEPS = [
    "..",
    ".",
    "",
    "linked",
    "deep/linked",
    "sub",
    "no",
    "...",
    ".. ",
    "..\\..",
    "sub/../..",
    "//",
    "~",
    "\u2024\u2024",
]
GIT_NAMES = [
    ".git", ".GIT", ".Git", "git~1", "GIT~2", ".git.", ".git ", ".git. .", ".g\u200cit", ".gi\u200dt", "\u2060.git",
    ".\uff47it", ".git\ufeff", ".git::$INDEX_ALLOCATION",
]  # fmt: skip
ENDS = [
    "secret.md",
    "../outside/secret.md",
    "config",
    "hooks/post-commit",
    "new.md",
    "x\0.md",
    "x\n.md",
    "n" * 300 + ".md",
]
WHOLE = [
    "", "/", "..", ".", "\0", "C:/x.md", "c:\\x.md", "\\\\host\\x.md", "/etc/passwd", "//etc/passwd", "~/x.md",
    "link.md", "linked/secret.md", "deep/linked/secret.md", "linked/new.md", "sub/.git", "dev.md",
    "a.md/x.md", "x/" * 1600 + "x.md", ".vault-agent-1", "sub/.vault-agent-2", "\ud800.md", "loop/x.md", "pipe.md",
]  # fmt: skip

RESERVED = [
    ".gitattributes", ".GITMODULES", ".obsidian/plugins/x/main.js", "vault-agent.yaml", "VAULT-AGENT.YML",
    "sub/.gitattributes", "vault-agent.yaml.", ".obsidian /x.json", "vault\u200c-agent.yaml",
]  # fmt: skip
"""Inside the vault, so they may be read; but a note there would change how programs behave."""


def hostile_path(rng: random.Random, outside: Path) -> str:
    """One path that must not work."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(WHOLE)
    if kind == 1:
        return rng.choice(
            [f"{outside}/secret.md", f"/{rng.choice(ENDS)}", f"sub/{outside}/secret.md".replace("//", "/../")]
        )
    if kind == 2:
        return "/".join([*rng.choices(["sub", "deep"], k=rng.randrange(2)), rng.choice(GIT_NAMES), rng.choice(ENDS)])
    steps = [rng.choice(STEPS) for _ in range(rng.randint(1, 6))]
    start = rng.choice([[], ["linked"], ["deep/linked"], ["sub/../linked"]])
    return "/".join([*start, *steps, *([] if start else [rng.choice(["..", ".git"])]), rng.choice(ENDS)])


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """A vault with links at every level that lead to a folder outside."""
    vault = make_vault(tmp_path, {"a.md": "one\n", "sub/b.md": "two\n", "deep/c.md": "three\n"})
    write(tmp_path / "outside/secret.md", f"{SECRET}\n")
    root = vault.place.root
    for link in ("linked", "deep/linked"):
        (root / link).symlink_to(tmp_path / "outside")
    (root / "link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "dev.md").symlink_to("/dev/zero")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe.md")
    return vault


def _transact(vault: Vault, kind: str, path: str) -> None:
    with vault.transaction("test(attack): try", STAMP) as tx:
        match kind:
            case "create":
                tx.create(path, b"evil\n")
            case "edit":
                tx.edit(path, f"{SECRET}\n".encode(), b"evil\n")
            case "append":
                tx.append(path, b"evil\n")
            case "move from":
                tx.move(path, "taken.md")
            case "move to":
                tx.move("a.md", path)
            case _:
                tx.delete(path)


KINDS = ["create", "edit", "append", "move from", "move to", "delete", "read", "get"]


def attempt(vault: Vault, kind: str, path: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What went wrong with one attack; empty when it was refused in clear words."""
    if kind == "get":
        code = main(["--vault", str(vault.place.root), "get", "--", path])
        shown = capsys.readouterr()
        return "" if code == 2 and shown.err.startswith("error: ") and not shown.out else f"exit {code}: {shown}"
    try:
        if kind == "read":
            data = vault.read(path)
            return "" if data is None else f"read {data!r}"
        _transact(vault, kind, path)
    except UserError as error:
        return "" if error.message else "no reason"
    except Exception as error:  # noqa: BLE001 - any other kind of failure is what this looks for
        return f"{type(error).__name__}: {error}"
    return "it worked"


def attack_paths(vault: Vault, outside: Path, count: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    rng = random.Random(count)
    before, inside = listing(outside), listing(vault.place.gitdir / "hooks")
    head = git(vault.place.root, "rev-parse", "HEAD")
    wrong: list[str] = []
    for number in range(count):
        kind, path = KINDS[number % len(KINDS)], hostile_path(rng, outside)
        if kind not in {"read", "get"} and number % 5 == 0:
            path = rng.choice(RESERVED)
        problem = attempt(vault, kind, path, capsys)
        if problem:
            wrong.append(f"{kind} {path[:100]!r}: {problem}")
    if listing(outside) != before or listing(vault.place.gitdir / "hooks") != inside:
        wrong.append("something outside has changed")
    if git(vault.place.root, "rev-parse", "HEAD") != head:
        wrong.append("something was committed")
    return wrong


def test_no_path_leads_outside(vault: Vault, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attack_paths(vault, tmp_path / "outside", 150, capsys) == []


@pytest.mark.chaos
def test_no_path_leads_outside_in_full(vault: Vault, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attack_paths(vault, tmp_path / "outside", 1500, capsys) == []


@contextmanager
def swapping(folder: Path, outside: Path, rounds: int) -> Iterator[None]:
    """Exchange a folder of the vault with a link to the outside, over and over, until the block ends."""
    stop = threading.Event()
    link = folder.with_name("trap")
    link.symlink_to(outside)
    above = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY)

    def swap() -> None:
        for _ in range(rounds):
            if stop.is_set():
                return
            platform().exchange(above, folder.name, link.name)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=30)
        os.close(above)


def race(vault: Vault, outside: Path, tries: int) -> list[str]:
    root = vault.place.root
    before = listing(outside)
    wrong: list[str] = []
    with swapping(root / "sub", outside, 200_000):
        for number in range(tries):
            try:
                match number % 4:
                    case 0:
                        data = vault.read("sub/secret.md")
                        wrong += [f"read {data!r}"] if data is not None and SECRET.encode() in data else []
                    case 1:
                        _transact(vault, "create", f"sub/new-{number}.md")
                    case 2:
                        _transact(vault, "append", "sub/secret.md")
                    case _:
                        _transact(vault, "delete", "sub/b.md")
            except AgentError:
                continue
            except Exception as error:  # noqa: BLE001 - any other kind of failure is what this looks for
                wrong.append(f"{type(error).__name__}: {error}")
    return wrong if listing(outside) == before else [*wrong, "something outside has changed"]


def test_a_folder_swapped_for_a_link_in_the_middle_leads_nowhere(vault: Vault, tmp_path: Path) -> None:
    assert race(vault, tmp_path / "outside", 60) == []


@pytest.mark.chaos
def test_a_folder_swapped_for_a_link_in_the_middle_leads_nowhere_in_full(vault: Vault, tmp_path: Path) -> None:
    assert race(vault, tmp_path / "outside", 1500) == []


def test_the_program_itself_starts_in_a_hostile_folder_without_running_it(tmp_path: Path) -> None:
    """As a process of its own, started in the vault: nothing there is imported or sourced."""
    ground, _ = lay_traps(tmp_path, 0)
    for name in ("agent.py", "click.py", "sitecustomize.py", "git.py"):
        write(ground.vault / name, f"open({str(ground.canaries / name)!r}, 'w')\n")
    program = Path(sys.executable).parent / "vault-agent"
    command = [str(program)] if program.exists() else [sys.executable, "-P", "-m", "agent"]
    subprocess.run([*command, "status"], cwd=ground.vault, capture_output=True, check=False, timeout=60)
    assert list(ground.canaries.iterdir()) == []
