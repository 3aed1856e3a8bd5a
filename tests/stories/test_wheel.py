"""A person's first minutes: install the built package, or follow the README, and have a vault that remembers.

Runs what is installed, never the checkout: other folders, an empty home, no git settings. In each check the wheel lies
beside the packages of this environment that it declares, and no others. The long runs, marked chaos, get them from the
package registry, and skip, saying so, where it cannot be reached.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import cast

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SHIPPED = ("vault_template", "skills", "configs", "hooks")
TEXT = "The spare key is at Ana's 备用钥匙"
OUT_OF_REACH = re.compile(
    r"Retrying \(|NewConnectionError|Max retries|name resolution|timed out|ProxyError", re.IGNORECASE
)


def run(*command: str | Path, env: Mapping[str, str] | None = None, cwd: Path) -> str:
    """The standard output of a command that succeeds; skips where it fails for want of a network."""
    done = subprocess.run(command, env=env, cwd=cwd, text=True, capture_output=True, check=False)
    if done.returncode and OUT_OF_REACH.search(done.stderr):
        pytest.skip("the package registry is out of reach")
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def sources() -> set[str]:
    """The files of the shipped folders, relative to the checkout."""
    found = (path for folder in SHIPPED for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def environment(home: Path) -> dict[str, str]:
    """An empty home without git settings, and none of ours; only the settings for installing are this machine's."""
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    cache = {"PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache/pip"))}
    for settings in (Path.home() / ".config/pip/pip.conf", Path.home() / ".pip/pip.conf"):
        if settings.is_file():
            cache["PIP_CONFIG_FILE"] = str(settings)
    ours = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "VAULT_AGENT_HOME": str(home / "agent home"),
    }
    return {**cache, **kept, **proxies, **ours}


@dataclass(frozen=True, slots=True)
class Installed:
    """vault-agent in a virtual environment of its own."""

    program: Path
    home: Path

    def ask(self, *args: str) -> dict[str, object]:
        """The JSON document that a command prints; it must say that all went well."""
        printed = run(self.program, "--json", *args, env=environment(self.home), cwd=self.home)
        document = cast("dict[str, object]", json.loads(printed))
        assert document["ok"] is True
        return document


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module", params=["linked", pytest.param("downloaded", marks=pytest.mark.chaos)])
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in a fresh virtual environment, with its dependencies."""
    folder = tmp_path_factory.mktemp("installed")
    linked = request.param == "linked"
    venv.create(folder / "venv", with_pip=not linked, symlinks=os.name != "nt")
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    if linked:
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--python",
            programs / "python",
            "--disable-pip-version-check",
        ]
        run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", wheel, cwd=folder)
        (site,) = folder.glob("venv/[Ll]ib/**/site-packages")
        (own,) = site.glob("vault_agent-*.dist-info")
        link_dependencies(Distribution.at(own), site)
    else:
        run(programs / "python", "-m", "pip", "install", "--quiet", wheel, cwd=folder)
    return Installed(programs / "vault-agent", folder / "home")


def link_dependencies(program: Distribution, site: Path) -> None:
    """Link into `site` the packages of this environment that the program's declared dependencies name, and theirs."""
    asked = [Requirement(line) for line in program.requires or ()]
    seen: set[tuple[str, str]] = set()
    while asked:
        wanted = asked.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        found = distribution(wanted.name)
        assert wanted.specifier.contains(found.version, prereleases=True), f"{wanted} is {found.version} here"
        for extra in ("", *wanted.extras):
            if (wanted.name, extra) not in seen:
                seen.add((wanted.name, extra))
                needed = [Requirement(line) for line in found.requires or ()]
                asked += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": extra})]
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(str(found.locate_file(top)))


def test_the_wheel_carries_everything_that_ships_beside_the_code(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {name.removeprefix("agent/_data/") for name in archive.namelist() if name.startswith("agent/_data/")}
        scripts = [entry for entry in archive.infolist() if entry.filename.startswith("agent/_data/hooks/")]
    assert carried == sources()
    assert all(entry.external_attr >> 16 & 0o111 for entry in scripts)


def test_the_version_names_the_commit(wheel: Path) -> None:
    commit = run("git", "rev-parse", "HEAD", cwd=ROOT).strip()
    named = re.search(r"\+g([0-9a-f]+)", wheel.name)
    tagged = run("git", "tag", "--points-at", "HEAD", cwd=ROOT).split()
    assert commit.startswith(named[1]) if named else tagged


def test_the_same_commit_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """Built from the checkout here, from the source archive there."""
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    (again,) = tmp_path.glob("*.whl")
    assert (again.name, again.read_bytes()) == (wheel.name, wheel.read_bytes())


def test_the_wheel_carries_every_module_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith("agent/_data/")}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "agent").rglob("*.py")}
    assert {name for name in names if ".dist-info/" not in name} >= modules
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"agent"}


def test_the_source_archive_is_complete(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert sources() | {"README.md", "LICENSE", "pyproject.toml", ".ci/run"} <= names
    assert [name for name in names if name.startswith((".venv", ".git/"))] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_installed_program_makes_a_vault_remembers_and_tells(installed: Installed, language: str) -> None:
    vault = installed.home / f"a vault {language}"
    installed.home.mkdir(exist_ok=True)
    made = installed.ask("init", "--yes", str(vault), "--language", language)
    assert Path(str(made["vault"])) == vault
    assert (vault / "AGENT.md").is_file()
    assert (vault / "vault-agent.yaml").is_file()

    remembered = installed.ask("--vault", str(vault), "remember", TEXT)
    assert TEXT in (vault / str(remembered["path"])).read_text("utf-8")

    log = installed.ask("--vault", str(vault), "log")
    commits = cast("list[object]", log["commits"])
    assert str(remembered["commit"]) in json.dumps(commits[0])
    git = run("git", "log", "-1", "--format=%H", env=environment(installed.home), cwd=vault)
    assert git.strip() == remembered["commit"]
    assert run("git", "status", "--porcelain", env=environment(installed.home), cwd=vault) == ""


def test_the_installed_program_does_not_read_the_checkout(installed: Installed) -> None:
    python = installed.program.parent / "python"
    code = "import agent; print(agent.__file__)"
    where = run(python, "-c", code, env=environment(installed.home), cwd=installed.program.parent)
    assert installed.program.parents[1] in Path(where.strip()).parents


def readmes_first_command() -> list[str]:
    """The steps of the README's command that needs nothing but Python."""
    readme = (ROOT / "README.md").read_text("utf-8")
    return next(line for line in readme.splitlines() if line.startswith("python3 -m venv")).split(" && ")


def test_the_readmes_first_command_ends_with_a_vault_that_is_watched(installed: Installed, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / ".venv").symlink_to(installed.program.parents[1])
    check_vault_is_watched(readmes_first_command()[-1], clone, environment(tmp_path / "home"))


@pytest.mark.chaos
def test_the_readmes_first_command_gives_a_vault_that_is_watched(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(
        ROOT, clone, ignore=shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis")
    )
    env = environment(tmp_path / "home")
    env["PATH"] = f"{sys.base_prefix}/bin{os.pathsep}{env['PATH']}"  # the README asks for a Python that is new enough
    check_vault_is_watched(" && ".join(readmes_first_command()), clone, env)


def check_vault_is_watched(command: str, clone: Path, env: Mapping[str, str]) -> None:
    """Check that a command makes `~/my-vault` and watches it; the program is in `clone`."""
    vault = Path(env["HOME"]) / "my-vault"
    command = f"{command} --yes"  # nobody is here to press Enter
    with subprocess.Popen(
        ["sh", "-c", command], env=env, cwd=clone, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as daemon:
        try:
            said = wait_for("watching ", daemon)
            if OUT_OF_REACH.search(said):
                pytest.skip("the package registry is out of reach")
            assert "is a vault now" in said
            program: list[str | Path] = [clone / ".venv/bin/vault-agent", "--vault", vault, "--json"]
            run(*program, "remember", TEXT, env=env, cwd=clone)
            (vault / "mine.md").write_text("# Mine\n\nThe boat is called Seagull.\n", "utf-8")
            assert any(
                "mine.md" in run(*program, "search", "what is the boat called", env=env, cwd=clone) for _ in range(30)
            )
        finally:
            with suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGTERM)
    entries = [note.read_text("utf-8") for note in (vault / "entries").rglob("*.md")]
    assert sum(TEXT in entry for entry in entries) == 1


def wait_for(words: str, process: subprocess.Popen[str]) -> str:
    """What the process says on standard error until it says `words`, or ends."""
    said = ""
    for line in process.stderr or ():
        said += line
        if words in line:
            break
    return said
