"""One task for the agent under one failure, and what was said about it against what git and the disk hold afterwards.

The ledger is the harness' own: what the model's server asked for and was told, what a person saved meanwhile. The
answer, the session's note, the log of commits and the files have to agree with it and with each other.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.clock import SystemClock
from agent.errors import AgentError
from agent.events.runs import Speaker
from agent.interfaces.cli.run_report import run_document
from agent.llm.messages import JsonObject
from agent.loop.records import RunRequest
from agent.vault.change import Stamp
from agent.vault.store import Vault, open_vault
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.index.fakes import FAKE
from tests.llm.dialects import SPOKEN
from tests.llm.servers import model_server
from tests.trust import checks, faults, interlocutor
from tests.trust.interlocutor import FINAL, Interlocutor, Step, Trouble
from tests.trust.logs import reported
from tests.vaults import git, make_vault

KEY = "canary-key-5d1e8f20-plum-8812"
NOTES = {
    "notes/edit.md": "# edit\n\nold text\n",
    "notes/append.md": "# append\n\nold text\n",
    "notes/move.md": "# move\n\nold text\n",
    "notes/mine.md": "# mine\n\nold text\n",
}
STEPS = (
    Step(
        (
            ("vault_write", {"path": "notes/new.md", "content": "agent new\n"}),
            ("vault_read", {"path": "notes/edit.md"}),
        )
    ),
    Step(
        (
            ("vault_edit", {"path": "notes/edit.md", "old": "old text", "new": "agent text"}),
            ("vault_append", {"path": "notes/append.md", "text": "agent line"}),
            ("vault_move", {"path": "notes/move.md", "to": "notes/moved.md"}),
        )
    ),
    Step((("memory_save", {"text": "agent memory of plums"}),)),
)  # fmt: skip
_DONE = re.compile(r"^(?:> )?done: ", re.MULTILINE)
_CLOSED = re.compile(r"^%% vault-agent: end (\{.*\}) %%$", re.MULTILINE)
Setenv = Callable[[str, str], None]


class Hasty(SystemClock):
    """A clock for which no pause is long."""

    def sleep(self, seconds: float) -> None:
        SystemClock.sleep(self, min(seconds, 0.005))


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure by name: of the model's server, of what lies around, of the disk, or of a person's timing."""

    name: str
    troubles: Mapping[int, Trouble] = field(default_factory=dict)
    steps: tuple[Step, ...] = STEPS
    endless: bool = False
    gone: bool = False
    saves: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    there: Callable[[Path, Path], AbstractContextManager[None]] = lambda root, state: nullcontext()
    through: Callable[[Vault], Vault] = lambda vault: vault
    around: Callable[[Workspace], AbstractContextManager[None]] = lambda workspace: nullcontext()


@dataclass
class Told:
    """What `ask` said: its document, or the error that it raised."""

    document: dict[str, object] | None
    error: str = ""

    @property
    def outcome(self) -> str:
        return str(self.document["outcome"]) if self.document else "raised"

    @property
    def commits(self) -> list[str]:
        found = self.document["commits"] if self.document else []
        return [str(each) for each in found] if isinstance(found, list) else []


def furnish(home: Path, setenv: Setenv) -> None:
    """A machine of its own, whose key may be seen nowhere."""
    for key, value in {
        "VAULT_AGENT_HOME": str(home),
        "VAULT_AGENT_GIT__DURABLE": "false",
        "VAULT_AGENT_GIT__LOCK_SECONDS": "0.2",
        "VAULT_AGENT_GIT__TIMEOUT_SECONDS": "1",
        "VAULT_AGENT_LLM__MODEL": "test-model",
        "VAULT_AGENT_LLM__RETRIES": "2",
        "VAULT_AGENT_LLM__TIMEOUT_SECONDS": "3",
        "VAULT_AGENT_LLM__API_KEY": "env:VAULT_AGENT_TEST_SECRET",
        "VAULT_AGENT_TEST_SECRET": KEY,
        "VAULT_AGENT_RUN__STEPS": "8",
    }.items():
        setenv(key, value)


def check(folder: Path, failure: Failure, setenv: Setenv, wire: int = 0) -> str:
    """Returns the outcome that was told; raises `AssertionError` where what was said is not so."""
    furnish(folder / "home", setenv)
    spoken = SPOKEN[wire % len(SPOKEN)]
    setenv("VAULT_AGENT_LLM__WIRE", spoken.name)
    root = make_vault(folder, NOTES).place.root
    talk = Interlocutor(spoken, failure.steps, dict(failure.troubles), endless=failure.endless)
    talk.meanwhile = {at: _saving(root / path, text) for at, (path, text) in failure.saves.items()}
    with reported() as log, model_server(talk.part()) as server:
        setenv("VAULT_AGENT_LLM__BASE_URL", "http://127.0.0.1:9/v1" if failure.gone else server.url)
        workspace = open_workspace(root, clock=Hasty())
        private = workspace.vault.writer.layout.folder
        with failure.there(root, private.parent), failure.around(workspace):
            told = _ask(replace(workspace, vault=failure.through(workspace.vault)))
    _settle(root, private.parent)
    _check_answer(failure, talk, told)
    _check_commits(root, failure, talk, told)
    _check_note(root, failure, told)
    _check_persons(root, failure)
    assert KEY not in log.getvalue(), f"{failure.name}: the log shows the key"
    _check_key(folder, root, failure, told)
    checks.check_sound(root)
    return told.outcome


def _ask(workspace: Workspace) -> Told:
    """As the command does it, in this process."""
    try:
        with (
            closing(open_index(workspace, chosen=FAKE)) as index,
            closing(build_runs(workspace, index)) as agent,
        ):
            with suppress(AgentError, OSError):
                index.refresh()
            ended = agent.ask(RunRequest("Write it all down, please.", Speaker("cli")))
            return Told(run_document(agent, ended))
    except (AgentError, OSError) as error:
        return Told(None, f"{error} {getattr(error, 'hint', '')}")


def _saving(file: Path, text: str) -> Callable[[], None]:
    def save() -> None:
        file.write_text(text, "utf-8")

    return save


def _settle(root: Path, state: Path) -> None:
    """The failure is over: what waits is written, and a new change goes through at once."""
    vault = open_vault(root, state, SystemClock(), open_workspace(root).vault.writer.options)
    vault.settle()
    vault.commit_held()  # the next process does so by itself; this one lives on
    with vault.transaction("agent(notes): afterwards", Stamp("agent", "after")) as transaction:
        transaction.create("notes/afterwards.md", b"agent afterwards\n")
    assert transaction.outcome.commit, "nothing can be written afterwards"


def _check_answer(failure: Failure, talk: Interlocutor, told: Told) -> None:
    if told.document is None:
        assert len(told.error.strip()) > 10, f"{failure.name}: an error without a word"
        return
    if told.outcome == "finished":
        assert talk.finals, f"{failure.name}: finished, but the model never said so"
        assert told.document["answer"] == FINAL, f"{failure.name}: {told.document['answer']!r}"
        assert not told.document["reason"], f"{failure.name}: finished, and yet {told.document['reason']}"
    else:
        assert told.document["reason"], f"{failure.name}: {told.outcome}, and nobody says why"


def _check_commits(root: Path, failure: Failure, talk: Interlocutor, told: Told) -> None:
    """What was called done is in a commit of this run that does what was asked; what was called a failure is not."""
    log = git(root, "log", "--format=%H%x1f%(trailers:key=Vault-Call,valueonly,separator=%x1d)%x1f"
              "%(trailers:key=Vault-Run,valueonly,separator=%x2C)%x1e", "HEAD")  # fmt: skip
    rows = [row.strip("\n").split("\x1f") for row in log.split("\x1e") if row.strip()]
    calls = {(work.split(" ")[0], commit) for commit, work, _ in rows for work in work.split("\x1d") if work}
    by_call, made = dict(calls), {commit for _, commit in calls}
    assert len(calls) == len(by_call), f"{failure.name}: a call was committed twice"
    assert set(told.commits) <= made, f"{failure.name}: {told.commits} are not all in the history {made}"
    waits = bool(told.document and told.document["queued"])
    if told.document is not None and not waits:
        assert made == set(told.commits), f"{failure.name}: commits that were not told of: {made - set(told.commits)}"
    for call, text in talk.told.items():
        place, number = (int(part) for part in call.split("_")[1:])
        tool, arguments = talk.steps[place % len(talk.steps)].calls[number]
        if _DONE.search(text):
            assert call in by_call, f"{failure.name}: {tool} was called done, but no commit has it"
            assert _is_in(root, by_call[call], tool, arguments), f"{failure.name}: {tool} is not in its commit"
        elif tool != "vault_read" and not text.startswith(("accepted", "asked for already")):
            assert call not in by_call, f"{failure.name}: {tool} failed, the model was told, and yet it is committed"


def _is_in(root: Path, commit: str, tool: str, arguments: JsonObject) -> bool:
    # What is remembered a second time is counted in the note that says it already.
    shown = ["-U9999"] if tool == "memory_save" else ["-U0"]
    added = git(root, "show", "--format=", *shown, "--no-renames", commit)
    wanted = [str(arguments[key]).strip() for key in ("content", "new", "text", "to") if key in arguments]
    return all(text in added for text in wanted)


def _check_note(root: Path, failure: Failure, told: Told) -> None:
    """The session's note tells the same story as the answer, and is committed."""
    path = str(told.document["session"]) if told.document else next(
        (found.relative_to(root).as_posix() for found in root.glob("sessions/**/*.md")), "")  # fmt: skip
    file = root / path
    if not path or not file.exists():
        assert told.outcome != "finished", f"{failure.name}: finished, and there is no note of it"
        return
    text = file.read_text("utf-8")
    if told.document is None or told.document["outcome"] == "finished":
        held = checks.blobs(root, [f"HEAD:{path}"])[0]
        assert held is not None and held.decode() == text, f"{failure.name}: the session's note is not committed"
    closed = [str(json.loads(found[1])["outcome"]) for found in _CLOSED.finditer(text)]
    if told.outcome == "finished":
        assert closed == ["finished"] and FINAL in text, f"{failure.name}: the note says {closed}"
    else:
        assert "finished" not in closed, f"{failure.name}: the note says finished, the answer {told.outcome}"


def _check_persons(root: Path, failure: Failure) -> None:
    lines = checks.reachable_lines(root)
    for path, text in failure.saves.values():
        for line in text.splitlines():
            assert line.encode() in lines, f"{failure.name}: a line that a person saved in {path} is lost: {line}"


def _check_key(folder: Path, root: Path, failure: Failure, told: Told) -> None:
    said = f"{told.error}{json.dumps(told.document, ensure_ascii=False, default=str)}"
    assert KEY not in said, f"{failure.name}: the answer shows the key"
    assert KEY not in git(root, "log", "-p", "--all"), f"{failure.name}: a commit holds the key"
    for place in (root, folder / "home"):
        for file in place.rglob("*"):
            if file.is_file() and ".git/" not in file.as_posix():
                assert KEY.encode() not in file.read_bytes(), f"{failure.name}: {file.name} holds the key"


def _folder_instead(*names: str) -> Callable[[Workspace], AbstractContextManager[None]]:
    """A file stands where the product keeps a private folder, or a folder where it keeps a file."""

    @contextmanager
    def there(workspace: Workspace) -> Iterator[None]:
        places = {"spend": workspace.directories.state / "spend", "cache": workspace.cache}
        path = places.get(names[0], workspace.vault.writer.layout.folder.joinpath(*names))
        path.parent.mkdir(parents=True, exist_ok=True)
        with faults.kept(path):
            if path.is_file():
                path.unlink()
            if path.suffix:
                path.mkdir()
            else:
                path.write_text("not a folder\n")
            yield

    return there


@contextmanager
def _locked(workspace: Workspace) -> Iterator[None]:
    """Another program is writing, and does not let go."""
    with workspace.vault.writer.exclusive():
        yield


SILENT: Mapping[int, Trouble] = dict.fromkeys(range(1, 30), interlocutor.hangs_up)
STORM: Mapping[int, Trouble] = dict.fromkeys(range(1, 30), interlocutor.status("429 Too Many", "{}", retry_after="1"))
BROKEN: Mapping[int, Trouble] = dict.fromkeys(range(3, 30), interlocutor.status("500 Oops", '{"error": "oops"}'))
STATES: tuple[Failure, ...] = (
    Failure("nothing at all"),
    Failure("nobody listens", gone=True),
    Failure("it always hangs up", SILENT),
    Failure("a storm of 429", STORM),
    Failure("500 from the third call on", BROKEN),
    Failure("it never comes to an end", endless=True),
    Failure("a person saves before the edit", saves={1: ("notes/edit.md", "# edit\n\nold text of mine\nmore\n")}),
    Failure("a person changes what is to be edited", saves={1: ("notes/edit.md", "# edit\n\nquite another text\n")}),
    Failure("a person saves all of them", saves={
        0: ("notes/new.md", "a note of mine\n"), 1: ("notes/append.md", "# append\n\nwithout end"),
        2: ("notes/moved.md", "# moved\n\nby hand\n"),
    }),
    Failure("a person takes the target of the move", saves={1: ("notes/moved.md", "mine\n")}),
    Failure("another program holds the vault", around=_locked),
    Failure("the ledger of spend is no folder", around=_folder_instead("spend")),
    Failure("the index cannot be made", around=_folder_instead("cache")),
    Failure("runs cannot be marked", around=_folder_instead("runs")),
    Failure("a folder has the name of the records", around=_folder_instead("records.sqlite")),
    Failure("counts cannot be kept", around=_folder_instead("metrics")),
    Failure("approvals cannot be kept", around=_folder_instead("approvals")),
    Failure("foreign lines cannot be kept", around=_folder_instead("foreign-text.jsonl")),
    *(Failure(fault.name, there=fault.there) for fault in faults.STATES),
)  # fmt: skip


def _of_the_model(rng: Random) -> Failure:
    """Something that a server does wrong, once or a few times."""
    kinds: tuple[tuple[str, Trouble], ...] = (
        ("429", interlocutor.status("429 Too Many", '{"error": {"message": "slow down"}}', retry_after="0")),
        ("500", interlocutor.status("500 Oops", "<html>oops</html>")),
        ("401 with the key", interlocutor.echoes),
        ("400", interlocutor.status("400 Bad", '{"error": {"message": "no"}}')),
        ("200 with an error", interlocutor.says(b'data: {"error": {"message": "overloaded", "code": 503}}\n\n')),
        ("a cut stream", interlocutor.cut(rng.random())),
        ("a stream without an end", interlocutor.cut(1.0)),
        ("no stream", interlocutor.says(b"hello")),
        ("nothing", interlocutor.says(b"")),
        ("an empty answer", interlocutor.says(b"data: [DONE]\n\n")),
        ("broken arguments", interlocutor.changes(b"notes/", b"notes/\\u")),
        ("arguments cut off", interlocutor.changes(b'\\"}', b"")),
        ("an unknown tool", interlocutor.changes(b'"vault_', b'"volt_')),
        ("a wrong type", interlocutor.changes(b'\\"path\\"', b'\\"paths\\"')),
        ("wrong usage", interlocutor.changes(b'"prompt_tokens": 120', b'"prompt_tokens": -5')),
        ("words for numbers", interlocutor.changes(b'_tokens": ', b'_tokens": "x", "y": ')),
        ("the longest answer", interlocutor.changes(b'"stop"', b'"length"')),
        ("hung up", interlocutor.hangs_up),
    )
    name, trouble = rng.choice(kinds)
    first, times = rng.randint(1, 4), rng.choice((1, 1, 2, 5))
    return Failure(f"{name} at call {first}, {times} times", dict.fromkeys(range(first, first + times), trouble))


def failures(count: int, seed: str) -> list[Failure]:
    """Of the model, of the disk, of git and of what lies about, in turn."""
    rng = Random(seed)
    states = list(STATES)
    rng.shuffle(states)
    hows = ("fails", "works-then-fails", "is-killed", "hangs", "works-then-hangs")
    found = []
    for number in range(count):
        match number % 4:
            case 0:
                found.append(states[number // 4 % len(states)])
            case 1 | 3:
                found.append(_of_the_model(rng))
            case _ if number % 8 == 2:
                fault = faults.disk(rng.choice(faults.CODES), rng.randint(1, 120), rng.random() < 0.3)
                found.append(Failure(fault.name, through=fault.through))
            case _:
                how = hows[min(int(rng.random() * 6), 4)] if rng.random() < 0.4 else hows[int(rng.random() * 3)]
                fault = faults.command(how, rng.randint(1, 90), rng.random() < 0.2)
                found.append(Failure(fault.name, there=fault.there))
    return found
