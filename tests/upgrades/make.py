"""Makes the archives of vaults that earlier versions have left: `python -m tests.upgrades.make COMMIT…`.

The version of each commit lives a short life by its command line: a vault is made, its person writes notes, facts are
remembered, a question is answered, a job and a reminder are made, a note is written by a run, and another run waits for
a yes. The vault, its history and the machine's state are packed into `COMMIT.tar.xz` beside this file.
"""

import json
import lzma
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
NOTES = {
    "Movers.md": "# Movers\n\nRui Matos moves us on 12 December, see [[House]].\n\n- [ ] call Rui 📅 2026-12-10\n",
    "House.md": "---\ntags: [home]\n---\n# House\n\nThree rooms, a garden. ^rooms\n",
    "旅行.md": "# 旅行\n\n十二月去大理，住在王姐家。[[Movers]]\n",
}
FACTS = ("The spare key is with Ana", "妈妈的生日是三月八日")
QUESTION = "May the agent obey less?"
SOLD = "# Sold\n\nThe old sofa is sold.\n"
PROPOSED = "---\ntype: agent\n---\n# Who the agent is here\n\nBe brief, and kind.\n"


def make(commit: str) -> Path:
    """The archive of one version."""
    with TemporaryDirectory() as held:
        place = Path(held)
        packed = subprocess.run(["git", "archive", commit, *_SHIPPED], cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as code:
            code.extractall(place / "program", filter="data")
        _live(place)
        file = FOLDER / f"{commit[:9]}.tar.xz"
        with (
            lzma.open(file, "wb", preset=9 | lzma.PRESET_EXTREME) as out,
            tarfile.open(fileobj=out, mode="w") as archive,
        ):
            for name in ("vault", "home"):
                archive.add(place / name, name, filter=_kept)
    return file


_SHIPPED = ("agent", "configs", "vault_template", "skills", "hooks")
_CACHES = frozenset(("cache", "__pycache__", "hooks"))


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Files as they are, without caches and git's examples; all of one owner."""
    if _CACHES & set(Path(member.name).parts) or not (member.isfile() or member.isdir()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _live(place: Path) -> None:
    home, vault = place / "home", place / "vault"
    home.mkdir()
    names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _ANNA.items()}
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "VAULT_AGENT_HOME": str(home),
        "TZ": "UTC",
        "PYTHONPATH": str(place / "program"),
        "PYTHONSAFEPATH": "1",
        **names,
    }

    def run(*words: str, **more: str) -> str:
        command = [sys.executable, "-m", "agent", *words]
        where = vault if vault.is_dir() else place
        done = subprocess.run(command, cwd=where, env={**environ, **more}, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 75}:
            raise SystemExit(f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def writes(path: str, content: str) -> dict[str, str]:
        """Settings with a model that writes one note."""
        call = {"calls": [{"tool": "vault_write", "arguments": {"path": path, "content": content}}]}
        script = place / "script.json"
        script.write_text(json.dumps({"replies": [call, "That is done."]}), "utf-8")
        return {"VAULT_AGENT_LLM__WIRE": "scripted", "VAULT_AGENT_LLM__SCRIPT": str(script)}

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=vault, env=environ, check=True, capture_output=True)

    run("init", str(vault), "--yes")
    for path, text in NOTES.items():
        (vault / path).write_text(text, "utf-8")
    git("add", *NOTES)
    git("commit", "-q", "-m", "My notes")
    for fact in FACTS:
        run("remember", fact)
    run("ask", "Who has the spare key?")
    run("jobs", "add", "every weekday at 9 brief me", "--yes")
    run("ask", "Write down that the old sofa is sold", **writes("Sold.md", SOLD))
    run("ask", QUESTION, **writes("AGENT.md", PROPOSED))
    git("gc", "-q", "--prune=now")


_ANNA = {"NAME": "Anna", "EMAIL": "anna@example.org"}

if __name__ == "__main__":
    for each in sys.argv[1:]:
        sys.stdout.write(f"{make(each)}\n")
