"""The entry point: asks the vault's daemon first for what it can answer at once, then is the whole command line.

A daemon has the notes' index, the model of search and the program itself in memory, where a process of its own loads
them each time. So nothing is imported here that is slow to load, and click is not. Whatever keeps the daemon from
answering (there is none, it is busy, of another version, has other settings) is no error: the whole program answers.
"""

import gc
import json
import os
import sys
from binascii import crc32
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import socket

PROTOCOL = 1
PATH = "/api/v1/command"
MARKER = "vault-agent.yaml"
SERVED: Mapping[str, tuple[float, frozenset[str]]] = {
    "search": (2.0, frozenset({"-n", "--limit", "--passages", "--explain"})),
    "recall": (5.0, frozenset({"-n", "--limit", "--all"})),
    "status": (5.0, frozenset({"--notes"})),
    "remember": (30.0, frozenset({"-k", "--keyword"})),
}
"""The commands that the daemon answers, with the seconds that it may take and the options that it knows: those that
need neither a person, nor this process's files and streams. `remember` may be asked twice: it knows what it has."""
_EVERYWHERE = frozenset({"--json", "--vault"})
_SERVING: Mapping[str, frozenset[str]] = {
    "acp": frozenset({"--vault"}),
    "mcp": frozenset({"--vault", "--as", "--tools", "--read-only"}),
}
"""The commands that serve the program that has started them, each named as its library, with the options for that."""
_WITH_VALUE = frozenset({"--vault", "-n", "--limit", "-k", "--keyword", "--as", "--tools"})
_LANGUAGE = ("LC_ALL", "LC_MESSAGES", "LANG")
DRAWING = ("NO_COLOR", "COLUMNS", "LINES")
"""The variables that count for what is drawn only."""
_SAME = ("VAULT_AGENT_", "TZ", *DRAWING)
_LARGEST = 64_000_000
_LONGEST_NAME = 100
"""The longest name of a socket in bytes; as in `http/door/socket_file`."""


def run() -> NoReturn:
    """Run the command line as the console entry point."""
    gc.disable()  # what is loaded is no garbage, and looking for some in it takes longer than reading a note
    args = sys.argv[1:]
    if os.environ.get("TERM") == "dumb":
        os.environ["NO_COLOR"] = "1"  # such a terminal, or a reader of the screen, would say the codes
    try:
        greet_program(args, os.environ)
        answer = ask_daemon(args, os.environ)
        if answer is not None:
            sys.stderr.write(answer["err"])
            sys.stdout.write(answer["out"])
            sys.stdout.flush()
            sys.exit(answer["code"])
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
    import_module("agent.interfaces.cli.main").run()
    raise SystemExit


def greet_program(args: Sequence[str], environ: Mapping[str, str]) -> None:
    """Answer the first message of a program that has started this for a vault: it waits a short time for it, and the
    command line takes longer to load. What does not look like that is left to the command."""
    words, options = words_of(args)
    library = words[0] if len(words) == 1 and options <= _SERVING.get(words[0], frozenset()) else ""
    if not library or sys.stdin is None or sys.stdin.isatty():
        return
    try:
        _root(args, environ)
    except (OSError, LookupError):
        return
    if find_spec(library) is not None:
        import_module(f"agent.interfaces.{library}.greeting").greet()


def ask_daemon(args: Sequence[str], environ: Mapping[str, str]) -> Mapping[str, Any] | None:
    """What the command prints on both streams and its exit code, if the daemon answers; else None."""
    name = served_command(args)
    if name is None or "_VAULT_AGENT_COMPLETE" in environ or not _prints_unicode():
        return None
    try:
        root = _root(args, environ)
        folder = private_folder(root, environ)
        body = json.dumps(_question(args, root, environ)).encode()
        return _answer(_sent(folder, request(folder, PATH, body), SERVED[name][0]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


def served_command(args: Sequence[str]) -> str | None:
    """The name of the command, if the daemon answers it with these options."""
    words, options = words_of(args)
    name = words[0] if words else ""
    return name if name in SERVED and options <= SERVED[name][1] | _EVERYWHERE else None


def words_of(args: Sequence[str]) -> tuple[list[str], set[str]]:
    """The words of a command line, without values of the options that are known here, and its options."""
    words, options = list[str](), set[str]()
    takes_value = False
    for word in args:
        if takes_value:
            takes_value = False
        elif word.startswith("-"):
            option, equals, _ = word.partition("=")
            options.add(option)
            takes_value = option in _WITH_VALUE and not equals
        else:
            words.append(word)
    return words, options


def version() -> list[str | int]:
    """What differs when another version of the program is installed, or the same one elsewhere."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [PROTOCOL, package, os.stat(os.path.join(package, "__init__.py")).st_mtime_ns]


def relevant(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables by which another process would answer otherwise: settings, keys to be masked, time zone, width."""
    others = ("VAULT_AGENT_VAULT",)
    return {
        name: value
        for name, value in environ.items()
        if (name.startswith(_SAME) or name.endswith("API_KEY")) and name not in others
    }


def pointer(state: str, root: str) -> str:
    """The file that says where the private folder of the vault at `root` is, as long as its daemon is at work."""
    return os.path.join(state, "daemons", f"{crc32(os.fsencode(root)):08x}")


def _prints_unicode() -> bool:
    streams = (sys.stdout, sys.stderr)
    return all((getattr(each, "encoding", None) or "").lower() in {"utf-8", "utf8"} for each in streams)


def _root(args: Sequence[str], environ: Mapping[str, str]) -> str:
    """The vault at hand; raises `LookupError` without one."""
    root = environ.get("VAULT_AGENT_VAULT", "")
    for number, word in enumerate(args):
        if word.startswith("--vault="):
            root = word.partition("=")[2]
        elif word == "--vault" and number + 1 < len(args):
            root = args[number + 1]
        if word.startswith("--vault") and not root.strip():
            raise LookupError("no vault is named")
    folder = os.path.realpath(root or os.getcwd())
    while not os.path.isfile(os.path.join(folder, MARKER)):
        above = os.path.dirname(folder)
        if root or above == folder:
            raise LookupError("there is no vault here")
        folder = above
    return folder


def private_folder(root: str, environ: Mapping[str, str]) -> str:
    """The folder with the socket of the daemon that watches the vault at `root`; raises `OSError`, `ValueError` or
    `LookupError` if there is none."""
    home = environ.get("VAULT_AGENT_HOME")
    if home:
        state = os.path.join(os.path.abspath(os.path.expanduser(home)), "state")
    else:
        state = str(import_module("agent.config.directories").directories(environ).state)
    with open(pointer(state, root), encoding="utf-8") as file:
        found = json.load(file)
    if found["root"] != root:
        raise LookupError("this is the daemon of another vault")
    folder: str = found["folder"]
    return folder


def _question(args: Sequence[str], root: str, environ: Mapping[str, str]) -> dict[str, object]:
    terminals = [_terminal(sys.stdout), _terminal(sys.stderr)]
    return {**caller(root, environ), "args": list(args), "terminals": terminals}


def caller(root: str, environ: Mapping[str, str]) -> dict[str, object]:
    """Who asks, by which the daemon knows whether it would answer as this process does."""
    return {
        "version": version(),
        "root": root,
        "environ": relevant(environ),
        "locale": {name: environ[name] for name in _LANGUAGE if name in environ},
    }


def _terminal(stream: Any) -> list[int]:
    """The columns and rows of a terminal; empty for any other stream."""
    return list(os.get_terminal_size(stream.fileno())) if stream.isatty() else []


def request(folder: str, path: str, body: bytes) -> bytes:
    """A request to the daemon with this private folder, as it is sent; what answers it ends with its connection.

    Raises `OSError` without a token.
    """
    with open(os.path.join(folder, "http", "token"), encoding="ascii") as file:
        token = file.read().strip()
    head = (
        f"POST {path} HTTP/1.0\r\nHost: vault-agent\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


def connected(folder: str, seconds: float | None) -> "socket.socket":
    """A connection to the daemon with this private folder; raises `OSError`."""
    import socket  # a tenth of the way to the daemon, and of no use without one

    path, descriptor = os.path.join(folder, "daemon.sock"), -1
    if len(os.fsencode(path)) >= _LONGEST_NAME:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        path = f"/proc/self/fd/{descriptor}/daemon.sock"
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    finally:
        if descriptor >= 0:
            os.close(descriptor)
    return connection


def _sent(folder: str, sent: bytes, seconds: float) -> bytes:
    """All that the daemon whose socket is in the folder says until it closes the connection; raises `OSError`."""
    with connected(folder, seconds) as connection:
        connection.sendall(sent)
        answer = b""
        while piece := connection.recv(262_144):
            answer += piece
            if len(answer) > _LARGEST:
                raise OSError("the answer has no end")
    return answer


def _answer(response: bytes) -> Mapping[str, Any] | None:
    """The answer in a response, None for any other."""
    head, _, body = response.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        return None
    found = json.loads(body)
    if type(found["out"]) is not str or type(found["err"]) is not str or type(found["code"]) is not int:
        return None
    answer: Mapping[str, Any] = found
    return answer
