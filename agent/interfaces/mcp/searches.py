"""The searches of programs, asked of the vault's daemon where one is at work, which has the index open already; what it
is asked, and what it says if that fails.

Else they are asked in a process of their own (`search_process`), which is started when it is needed and ends by itself.
This is the only place that knows where the index is opened.
"""

import base64
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, cast

from agent.dataclass import dataclass
from agent.errors import Permanent, ToolFailed
from agent.json_value import parse_json
from agent.module_process import end_process
from agent.tools.tool import RunContext
from agent.workspace.daemon_socket import DaemonSilent, ask_daemon, program_identity
from agent.workspace.workspace import Workspace, load_daemon_state

if TYPE_CHECKING:
    from agent.index.query import SearchResult
    from agent.memory.recall.recaller import Recollection

DAEMON_PATH = "/api/v1/command/search"
"""Where the daemon answers, on its socket only."""
_COUNT = ("VAULT_AGENT_INDEX__", "VAULT_AGENT_MEMORY__", "VAULT_AGENT_VAULT__", "TZ")


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A search for passages of notes, or for `memories` of the person of a program (`channel`, `run`)."""

    text: str
    limit: int
    memories: bool = False
    channel: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """Why a question has no answer, and what to do."""

    message: str
    hint: str = ""


def settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables by which another process would find something else."""
    return {name: value for name, value in environ.items() if name.startswith(_COUNT)}


_PROCESS = "agent.interfaces.mcp.search_process"
"""Started with `-P`: a package of this name in the working folder is not ours."""
_TRIES = 2
_SECONDS = 10.0
"""The longest time for an answer of the daemon."""


@dataclass(slots=True)
class Searches:
    """Searches of one vault; may be used by several threads."""

    workspace: Workspace
    is_daemon_asked: bool = True
    _process: "subprocess.Popen[bytes] | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, question: str, limit: int) -> "SearchResult":
        """Passages of all notes except transcripts and the archive."""
        return cast("SearchResult", self._ask(SearchQuestion(question, limit)))

    def remembered(self, question: str, limit: int, context: RunContext) -> "Recollection":
        """The memories about a question, for the person of the program."""
        asked = SearchQuestion(question, limit, memories=True, channel=context.channel, run=context.run)
        return cast("Recollection", self._ask(asked))

    @property
    def running(self) -> "subprocess.Popen[bytes] | None":
        """The process that searches for this server; None if there is none."""
        return self._process

    def close(self) -> None:
        """End the process; it has nothing to save."""
        process, self._process = self._process, None
        if process is not None:
            end_process(process)

    def _ask(self, asked: SearchQuestion) -> Any:
        """The answer; raises `ToolFailed` for a search that fails, and `Permanent` if no process answers."""
        with self._lock, suppress(DaemonSilent):
            return _checked(self._from_daemon(asked))
        with self._lock:
            for _ in range(_TRIES):  # it ends by itself when it was idle: perhaps just now
                process = self._started()
                assert process.stdin is not None and process.stdout is not None
                try:
                    pickle.dump(asked, process.stdin)
                    process.stdin.flush()
                    answer = pickle.load(process.stdout)
                except (EOFError, OSError, pickle.UnpicklingError):
                    self._process = None
                    end_process(process)
                    continue
                return _checked(answer)
        raise Permanent("the search does not start", hint="vault-agent doctor looks for the cause")

    def _from_daemon(self, asked: SearchQuestion) -> Any:
        """The daemon's answer; raises `DaemonSilent` if there is none, as before it has looked at all notes."""
        if not self.is_daemon_asked or load_daemon_state(self.workspace) is None:
            raise DaemonSilent("there is no daemon")
        question = {"version": program_identity(), "environ": settings_of(os.environ), **asdict(asked)}
        answer = ask_daemon(self.workspace, DAEMON_PATH, question, _SECONDS)
        try:
            return pickle.loads(base64.b64decode(parse_json(answer)["found"]))  # by a socket of this person's own
        except (ValueError, LookupError, TypeError, EOFError, pickle.UnpicklingError) as error:
            raise DaemonSilent("the answer cannot be read") from error

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is not None:
            end_process(self._process)
            self._process = None
        if self._process is None:
            words = [sys.executable, "-P", "-m", _PROCESS, str(self.workspace.vault.place.root)]
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        return self._process


def _checked(answer: Any) -> Any:
    if isinstance(answer, SearchFailure):
        raise ToolFailed(answer.message, hint=answer.hint)
    return answer
