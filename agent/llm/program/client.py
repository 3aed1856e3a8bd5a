"""What is common to the programs: how one is started, what it may take from the environment, and what it has said."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.errors import AgentError, ConfigError, Permanent, Retryable
from agent.llm.failures import clean_message
from agent.llm.messages import JsonObject, Usage
from agent.llm.program.process import Invocation
from agent.texts import Sentence

_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"),
    *("NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""What a program needs of the environment to find its files, its sign-in and the network; keys of others are not among
it."""
_PASSING = re.compile(
    r"rate.?limit|usage limit|limit reached|overloaded|quota|too many requests|try again|\b429\b|\b5\d\d\b|timed? ?out"
    r"|network|connection|ENOTFOUND|ECONN|stream disconnected|unavailable",
    re.I,
)
_MOST_SHOWN = 300


@dataclass(slots=True)
class Heard:
    """The events of a program so far. `new` is text that was not passed on yet; `text` all text, for a program that
    says it again at its end; `failure` why there is no answer; `is_over`: there is no more of it; `is_cut`: it ends at
    the longest that an answer of the model may be."""

    new: list[str] = field(default_factory=list)
    text: str = ""
    usage: Usage | None = None
    model: str = ""
    failure: str = ""
    is_over: bool = False
    is_cut: bool = False
    is_checked: bool = False
    """The program itself has said that it has no tools; not every one does."""


class ModelProgram(Protocol):
    """A program that answers as a model; `name` is that of its preset. `probe` are the arguments with which it succeeds
    if it is signed in, or at least if it is there."""

    name: str
    title: str
    command: str
    probe: Sequence[str]

    def start(self, program: str, folder: Path, model: str, effort: str, clock: Clock) -> Invocation:
        """How it is started in `folder`, where the file `instructions.md` and the empty folder `work` lie; an empty
        model or effort is its own default. Raises `Permanent` where it cannot be made a plain model."""

    def take(self, event: JsonObject, heard: Heard) -> None:
        """Take in one event of its output; raises `Permanent` if it has used a tool of its own."""


def find_program(client: ModelProgram) -> str:
    """The path of the program; raises `ConfigError` if it is not installed."""
    found = shutil.which(client.command)
    if found is None:
        raise ConfigError(
            "{title} is not installed: there is no program {command}",
            hint="install it and sign in there; its folder has to be in PATH",
            title=client.title,
            command=client.command,
        )
    return found


def reduced_environ(folder: Path, *more: str, **own: str) -> dict[str, str]:
    """The environment for a program: what it needs, `more` variables of its own by their names, and these values."""
    inherited = {name: os.environ[name] for name in (*_VARIABLES, *more) if name in os.environ}
    return {**inherited, "TERM": "dumb", "NO_COLOR": "1", "TMPDIR": str(folder), **own}


def refuse_files(title: str, files: Sequence[Path]) -> None:
    """Raise `Permanent` if one of the files is there, which the program would obey and no option switches off."""
    for file in files:
        if file.exists():
            raise Permanent(
                "{title} cannot be used as a model here: it obeys {file} in each conversation",
                hint="move that file away, or choose another llm.preset",
                title=title,
                file=file,
            )


def own_tool(title: str, what: str) -> Permanent:
    """The error for a program that has tools of its own, or has used one."""
    return Permanent(
        "{title} was stopped: it has a tool of its own ({what}), so it is no plain model",
        hint="update {title}; if that does not help, choose another llm.preset",
        title=title,
        what=what,
    )


def failure_of(client: ModelProgram, message: str) -> AgentError:
    """The error for what a program says of its failure: temporary, or one that a person has to mend."""
    words = clean_message(message[-_MOST_SHOWN:], "") or Sentence("it said nothing")
    if _PASSING.search(message):
        return Retryable("{title} gave no answer: {words}", hint="try again later", title=client.title, words=words)
    return Permanent(
        "{title} gave no answer: {words}",
        hint="run {command} once by hand: it has to be signed in, and of a recent version",
        title=client.title,
        words=words,
        command=client.command,
    )


def tokens(counts: Mapping[str, object], *names: str) -> int:
    """The sum of some counts of tokens."""
    found = (counts.get(name) for name in names)
    return sum(each for each in found if isinstance(each, int) and not isinstance(each, bool) and each > 0)
