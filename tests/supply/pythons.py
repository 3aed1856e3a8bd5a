"""Builds the wheel and the source archive, and lives a minute in each in a clean environment of each Python:
`python -m tests.supply.pythons [PYTHON…]`, by default of each python3.11 to python3.14 on the PATH.

The packages are those of `constraints.txt`, from the registry. `tests/stories/test_wheel.py` does the same for the
Python of the tests.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "configs/packaging/constraints.txt"
MINORS = range(11, 15)
"""The versions 3.N that it should run on; the classifiers name those on which it was seen."""
_FACT = "The spare key is with Ana"


def on_path() -> list[str]:
    """The interpreters of these versions on the PATH."""
    return [found for minor in MINORS if (found := shutil.which(f"python3.{minor}"))]


def build(folder: Path) -> Sequence[Path]:
    """The wheel and the source archive of the checkout as it is committed."""
    source = folder / "source"
    _run("git", "clone", "--quiet", ROOT, source, cwd=folder)
    _run(sys.executable, "-m", "build", "--outdir", folder / "dist", source, cwd=folder)
    return sorted((folder / "dist").iterdir())


def try_out(python: str, archive: Path, folder: Path) -> str:
    """What the program says of itself after a minute in a new environment; raises `CalledProcessError`, with what a
    command printed."""
    _run(python, "-m", "venv", folder / "venv", cwd=folder)
    installing = ("install", "--quiet", "--disable-pip-version-check", "--constraint", CONSTRAINTS, archive)
    _run(folder / "venv/bin/python", "-m", "pip", *installing, cwd=folder)
    program = folder / "venv/bin/vault-agent"
    said = _run(program, "--version", cwd=folder).strip()
    _run(program, "init", "--yes", "vault", cwd=folder)
    vault = folder / "vault"
    made = json.loads(_run(program, "--json", "remember", _FACT, cwd=vault))
    found = json.loads(_run(program, "--json", "search", "spare key", cwd=vault))
    note = vault / made["path"]
    if _FACT not in note.read_text("utf-8") or made["path"] not in json.dumps(found):
        raise subprocess.CalledProcessError(1, "search", json.dumps(found))
    for looking in ("status", "doctor"):
        _run(program, "--vault", vault, looking, cwd=folder)  # what it remembers lies outside of the vault
    _run(folder / "venv/bin/python", "-m", "pip", "check", cwd=folder)
    return said


def rows(pythons: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """A line for each Python and archive, and whether all went well."""
    with TemporaryDirectory() as place:
        archives = build(Path(place))
        for python in pythons:
            named = _run(python, "--version", cwd=Path(place)).strip()
            for archive in archives:
                kind = "wheel" if archive.suffix == ".whl" else "sdist"
                with TemporaryDirectory() as folder:
                    try:
                        yield True, f"ok      {named} {kind}: {try_out(python, archive, Path(folder))}"
                    except subprocess.CalledProcessError as error:
                        printed = f"{error.stdout or ''}{error.stderr or ''}".strip()[-2000:]
                        yield False, f"FAILED  {named} {kind}: {error.cmd}\n{printed}"


def _run(*words: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VAULT_AGENT_", "PYTHON"))}
    home = {"HOME": str(cwd), "VAULT_AGENT_HOME": f"{cwd}/home"} if "venv/bin/vault-agent" in str(words[0]) else {}
    person = {"GIT_AUTHOR_NAME": "Mara", "GIT_AUTHOR_EMAIL": "mara@example.org"}
    whole = environment | person | home
    return subprocess.run(words, cwd=cwd, env=whole, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    fine = True
    for is_fine, line in rows(parser.parse_args().pythons or on_path()):
        fine = fine and is_fine
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    sys.exit(not fine)
