"""A key is typed by the person and repeated by the model wherever it can be; then every place is searched for it.

The search is the harness' own: files and their names, git's objects, logs and reflogs, and what was printed, in any
letter case, in hexadecimal and in base64.
"""

import base64
import json
import string
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import quote

from agent.interfaces.cli.main import main
from tests.llm.dialects import Wanted, openai
from tests.llm.servers import model_server, streams
from tests.trust.agent_honesty import furnish
from tests.trust.logs import reported
from tests.vaults import git, make_vault

ALPHABETS = (
    "0123456789abcdef",
    string.ascii_letters + string.digits,
    string.ascii_letters + string.digits + "-_",
    string.ascii_letters + string.digits + "+/=.",
    string.digits + "xyz",
)
NOTES = {"notes/plan.md": "# Plan\n\nPlant the garden in April.\n"}
Setenv = Callable[[str, str], None]
Printed = Callable[[], tuple[str, str]]
Spell = Callable[[str], str]
SPELLINGS: dict[str, Spell] = {
    "as it is": str,
    "in capitals": str.upper,
    "in small letters": str.lower,
    "percent-encoded": lambda key: quote(key, safe=""),
    "with blanks": lambda key: f"{key[:7]} {key[7:]}",
    "on two lines": lambda key: f"{key[:9]}\n{key[9:]}",
    "with hyphens": lambda key: "-".join(key[at : at + 4] for at in range(0, len(key), 4)),
    "in base64": lambda key: base64.b64encode(f"key {key} end".encode()).decode(),
    "in hexadecimal": lambda key: key.encode().hex(),
}


def random_key(random: Random) -> str:
    """A key of 12 to 80 characters with enough letters and digits to be known in pieces."""
    letters = random.choice(ALPHABETS)
    while True:
        key = "".join(random.choices(letters, k=random.randint(12, 80)))
        if sum(letter.isalnum() for letter in key) >= 12:
            return key


def furnish_patiently(home: Path, setenv: Setenv) -> None:
    """As `furnish`, for a machine that has other work to do, too; the model speaks OpenAI's wire."""
    furnish(home, setenv)
    for name, seconds in (("LLM__TIMEOUT_SECONDS", "60"), ("GIT__TIMEOUT_SECONDS", "60"), ("GIT__LOCK_SECONDS", "10")):
        setenv(f"VAULT_AGENT_{name}", seconds)
    setenv("VAULT_AGENT_LLM__WIRE", "openai")


@dataclass(frozen=True)
class Told:
    """One conversation in which a key is told: how it is spelled, and how the model and the person say it."""

    key: str
    spelled: str

    @property
    def said(self) -> str:
        return SPELLINGS[self.spelled](self.key)

    def calls(self) -> bytes:
        """All that the model wants to do with it, a question last: the run waits then."""
        said = self.said
        name = said.replace("/", "-").replace("\n", " ")
        wanted = (
            ("vault_write", {"path": "notes/new.md", "content": f"# New\n\nthe key is {said}\n"}),
            ("vault_write", {"path": f"notes/{name}.md", "content": "# Named\n"}),
            ("vault_append", {"path": "notes/plan.md", "text": f"key: {said}"}),
            ("vault_move", {"path": "notes/plan.md", "to": f"notes/{name} plan.md"}),
            ("memory_save", {"text": f"The person's key is {said}"}),
            ("search_vault", {"query": said}),
            (f"use_{said}", {said: said}),
            ("delegate", {"task": f"use the key {said}", "background": said}),
            ("human_ask", {"question": f"is {said} yours?\nsay {said}", "options": [f"yes, {said}", "no"]}),
        )
        calls = [Wanted(f"c{at}", tool, (json.dumps(args),)) for at, (tool, args) in enumerate(wanted)]
        return openai.begin + openai.text(f"I will use {said}.") + openai.calls(calls) + openai.end("tools")

    def talk(self, folder: Path, setenv: Setenv, printed: Printed, chdir: Callable[[Path], None]) -> str:
        """Have the conversation; what was printed and logged."""
        furnish_patiently(folder / "home", setenv)
        setenv("VAULT_AGENT_LOG__LEVEL", "debug")
        setenv("VAULT_AGENT_TEST_SECRET", self.key)
        root = make_vault(folder, NOTES).place.root
        chdir(root)
        pieces = [self.said[at : at + 5] for at in range(0, len(self.said), 5)]
        answer = openai.answer("The key is ", *pieces, ", isn't it?")
        with reported() as log, model_server(streams(self.calls()), streams(answer)) as server:
            setenv("VAULT_AGENT_LLM__BASE_URL", server.url)
            main(["ask", f"my key is {self.said}, keep {self.said}"])
            question = next((root / "questions").glob("*.md"), None)
            assert question is not None, "the question was not asked"
            main(["questions", "answer", question.relative_to(root).as_posix(), f"yes, it is {self.said}"])
            session = next((root / "sessions").rglob("2*.md")).relative_to(root).as_posix()
            main(["ask", "--resume", session, "--json"])
            for words in (["search", self.said], ["log"], ["status"], ["recall", self.said], ["remember", self.said]):
                main(words)
                main([*words, "--json"])
            main([self.said, self.key])
        out, err = printed()
        assert "error" in err and out
        return out + err + log.getvalue()


def found(root: Path, beside: Sequence[Path], key: str, printed: str) -> list[str]:
    """Where a key stands; empty for nowhere."""
    data = key.encode()
    forms = {data, data.hex().encode(), quote(key, safe="").encode()}
    forms |= {base64.b64encode(bytes(at) + data)[(at * 8 + 5) // 6 : (at + len(data)) * 8 // 6] for at in range(3)}
    folded = bytes(byte for byte in data.lower() if chr(byte).isalnum())

    def holds(text: bytes) -> bool:
        lowered = text.lower()
        if any(form.lower() in lowered for form in forms):
            return True
        return folded in bytes(byte for byte in lowered if chr(byte).isalnum())

    objects = ["git", "cat-file", "--batch-all-objects", "--batch"]
    places = {
        "what is printed": printed.encode(),
        "the objects": subprocess.run(objects, cwd=root, capture_output=True, check=True).stdout,
        "the log": git(root, "log", "-p", "--all", "--format=fuller").encode(),
        "the reflog": git(root, "reflog", "--all").encode(),
    }
    for place in (root, *beside):
        for path in place.rglob("*"):
            places[f"the name of {path}"] = path.name.encode()
            if path.is_file():
                places[str(path)] = path.read_bytes()
    return [place for place, text in places.items() if holds(text)]
