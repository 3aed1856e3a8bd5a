"""The scripts in `hooks/`: they help where vault-agent is there and are never in the way where it is not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOOKS = ROOT / "hooks"
SUITE = "-m pytest --numprocesses"
TOOLS = f"{Path(shutil.which('git') or 'git').parent}:{os.defpath}"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A git repository with one staged note and our three hooks."""
    path = tmp_path / "a vault"
    subprocess.run(["git", "init", "-q", path], check=True)
    for name in ("pre-commit", "post-merge", "post-checkout"):
        shutil.copy(HOOKS / name, path / ".git/hooks" / name)
    (path / "vault-agent.yaml").write_text("vault: {language: en}\n")
    (path / "note.md").write_text("hello\n")
    git(path, "add", "-A")
    return path


def git(vault: Path, *args: str, path: str = TOOLS) -> subprocess.CompletedProcess[str]:
    env = {"PATH": path, "HOME": str(vault.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    return subprocess.run(["git", *identity, *args], cwd=vault, env=env, text=True, capture_output=True, check=False)


def program(vault: Path, body: str) -> str:
    """A stand-in for vault-agent that runs `body`; gives the PATH that finds it."""
    folder = vault.parent / "bin"
    folder.mkdir()
    (folder / "vault-agent").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "vault-agent").chmod(0o755)
    return f"{folder}:{TOOLS}"


def commits(vault: Path) -> int:
    counted = git(vault, "rev-list", "--count", "HEAD")
    return int(counted.stdout) if counted.returncode == 0 else 0


def test_a_commit_goes_through_with_one_line_where_vault_agent_is_not_installed(vault: Path) -> None:
    result = git(vault, "commit", "-m", "x")
    assert commits(vault) == 1
    assert result.stderr == "vault-agent is not installed here: the notes were committed unchecked.\n"


def test_a_good_commit_goes_through_and_the_check_sees_the_vault(vault: Path) -> None:
    path = program(vault, 'echo "$@" > ../called')
    assert git(vault, "commit", "-m", "x", path=path).returncode == 0
    assert (vault.parent / "called").read_text() == f"--vault {vault} hook pre-commit\n"


def test_a_problem_stops_the_commit_lists_it_and_says_how_to_skip(vault: Path) -> None:
    path = program(vault, 'echo "note.md:3: the header is not closed"; exit 1')
    result = git(vault, "commit", "-m", "x", path=path)
    assert commits(vault) == 0
    assert "note.md:3: the header is not closed" in result.stderr
    assert "git commit --no-verify" in result.stderr
    assert git(vault, "commit", "--no-verify", "-m", "x", path=path).returncode == 0


@pytest.mark.parametrize("code", [2, 70, 75])
def test_a_failure_of_our_own_does_not_stop_the_commit(vault: Path, code: int) -> None:
    result = git(vault, "commit", "-m", "x", path=program(vault, f"exit {code}"))
    assert commits(vault) == 1
    assert f"exit {code}" in result.stderr


def test_a_repository_that_is_no_vault_is_left_alone(vault: Path) -> None:
    git(vault, "rm", "-q", "--cached", "vault-agent.yaml")
    (vault / "vault-agent.yaml").unlink()
    result = git(vault, "commit", "-m", "x", path=program(vault, "exit 1"))
    assert commits(vault) == 1
    assert "vault-agent" not in result.stderr


def test_merge_and_checkout_ask_for_a_rescan_and_never_fail(vault: Path) -> None:
    called = vault.parent / "called"
    os.mkfifo(called)
    path = program(vault, f'[ -z "$GIT_DIR$GIT_INDEX_FILE" ] && echo "$*" > "{called}"; exit 70')
    git(vault, "commit", "--no-verify", "-qm", "x")
    for hook in ("post-merge", "post-checkout"):
        env = {"PATH": path, "GIT_DIR": ".git", "GIT_INDEX_FILE": ".git/index"}
        ran = subprocess.run([vault / ".git/hooks" / hook, "a", "b", "1"], cwd=vault, env=env, check=False)
        assert ran.returncode == 0
        said = subprocess.run(["cat", called], text=True, capture_output=True, check=True, timeout=20)
        assert said.stdout == f"--vault {vault} hook rescan\n"


def test_a_new_branch_on_the_same_commit_asks_for_nothing(vault: Path) -> None:
    path = program(vault, "touch ../called")
    traced = subprocess.run(
        ["sh", "-x", vault / ".git/hooks/post-checkout", "a", "a", "1"],
        cwd=vault, env={"PATH": path}, text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert "nohup" not in traced.stderr


@pytest.mark.parametrize("script", [*sorted(HOOKS.iterdir()), ROOT / ".ci/run"], ids=lambda p: p.name)
def test_scripts_are_plain_sh_and_can_be_run(script: Path) -> None:
    assert script.read_text().startswith("#!/bin/sh\n")
    assert os.access(script, os.X_OK)
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with `hooks/check` and an environment whose Python only writes down what it is asked to run."""
    root = tmp_path / "a checkout"
    (root / "hooks").mkdir(parents=True)
    (root / ".ci").mkdir()
    shutil.copy(HOOKS / "check", root / "hooks/check")
    shutil.copy(ROOT / ".ci/run", root / ".ci/run")
    (root / "pyproject.toml").write_text("")
    (root / ".venv-check/bin").mkdir(parents=True)
    python = root / ".venv-check/bin/python"
    python.write_text('#!/bin/sh\necho "$*" >> ran\n[ "$2" != "$FAILS" ] || exit 5\n')
    python.chmod(0o755)
    return root


def check(checkout: Path, *args: str, fails: str = "nothing") -> subprocess.CompletedProcess[str]:
    env = {"PATH": TOOLS, "FAILS": fails}
    return subprocess.run(args, cwd="/", env=env, text=True, capture_output=True, check=False)


def test_the_check_runs_every_step_from_any_folder(checkout: Path) -> None:
    result = check(checkout, str(checkout / ".ci/run"), "-k", "undo")
    assert result.returncode == 0
    ran = (checkout / "ran").read_text()
    steps = ["pip install", "ruff check", "ruff format --check", "lint_imports_command", "-m mypy", SUITE]
    assert [ran.find(step) for step in steps] == sorted(ran.find(step) for step in steps)
    assert 0 < ran.find("pytest --collect-only") < ran.find(SUITE)
    assert all(step in ran for step in [*steps, "real-model"]) and ran.endswith(" -k undo\n")
    assert "all checks passed" in result.stdout


@pytest.mark.parametrize("tool", ["ruff", "mypy", "pytest"])
def test_the_check_ends_at_the_first_failure_with_its_exit_code(checkout: Path, tool: str) -> None:
    compiled(checkout)
    result = check(checkout, str(checkout / "hooks/check"), fails=tool)
    assert result.returncode == 5
    assert (checkout / "ran").read_text().splitlines()[-1].startswith(f"-m {tool}")
    assert "FAILED with exit 5" in result.stderr


def test_types_are_checked_beside_other_steps_and_what_is_wrong_is_shown(checkout: Path) -> None:
    python = checkout / ".venv-check/bin/python"
    python.write_text(f'{python.read_text()}[ "$2" != mypy ] || {{ echo "a.py: wrong type"; exit 3; }}\n')
    result = check(checkout, str(checkout / "hooks/check"))
    assert result.returncode == 3
    assert "== mypy\na.py: wrong type\n" in result.stdout and "mypy: FAILED with exit 3" in result.stderr
    assert SUITE not in (checkout / "ran").read_text()


def test_tests_that_are_compiled_are_not_collected_beforehand(checkout: Path) -> None:
    compiled(checkout)
    assert check(checkout, str(checkout / "hooks/check")).returncode == 0
    ran = (checkout / "ran").read_text()
    assert SUITE in ran and "--collect-only" not in ran


def compiled(checkout: Path) -> None:
    """Make it a checkout whose tests have been run before."""
    (checkout / "tests/__pycache__").mkdir(parents=True)
    (checkout / "tests/__pycache__/test_a.cpython-311-pytest-8.3.pyc").touch()


def test_the_check_installs_again_only_when_the_project_has_changed(checkout: Path) -> None:
    script = str(checkout / "hooks/check")
    for _ in range(2):
        check(checkout, script)
    assert (checkout / "ran").read_text().count("pip install") == 2
    (checkout / "pyproject.toml").write_text("# changed\n")
    check(checkout, script)
    assert (checkout / "ran").read_text().count("pip install") == 4
