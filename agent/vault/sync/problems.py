"""What stands in the way of a transfer, from git's own words: the kind, the reason, and a command that helps.

git has no codes for failures of the network, so its messages are compared with the table below, in the order of the
table. They are English, because every git command here runs in the C locale.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from agent.config.addresses import without_login
from agent.dataclass import dataclass
from agent.errors import AgentError, GitFailed, Retryable
from agent.git.network import RefusedRef
from agent.git.repository import common_folder
from agent.git.runner import Git
from agent.git.running import TooSlow
from agent.texts import Sentence
from agent.vault import exclude
from agent.vault.store import Vault
from agent.vault.worktree.files import Files


class ProblemKind(StrEnum):
    """Why a transfer failed."""

    OFFLINE = "offline"
    LOGIN = "login"
    FORBIDDEN = "forbidden"
    GONE = "gone"
    TOO_LARGE = "too large"
    BUSY = "busy"
    REFUSED = "refused"
    BROKEN = "broken"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TransferProblem:
    """A failed transfer for people; `passes` is true if trying again later can help without a person's doing."""

    kind: ProblemKind
    reason: Sentence
    hint: Sentence
    passes: bool


_ADDRESS = Sentence("check the address: git remote -v")
_WAIT = Sentence("nothing to do: it is tried again by itself")

_HERE_FULL = TransferProblem(
    ProblemKind.OTHER,
    Sentence("this disk is full"),
    Sentence("make room on this disk: df -h shows how much there is"),
    True,
)
_NO_SPACE = TransferProblem(
    ProblemKind.BUSY,
    Sentence("the server has no space left"),
    Sentence("make room on the server, or ask who runs it: git remote -v shows the address"),
    True,
)
_SLOW = TransferProblem(ProblemKind.BUSY, Sentence("the server did not answer in time"), _WAIT, True)
_TOO_LARGE = TransferProblem(
    ProblemKind.TOO_LARGE,
    Sentence("the server takes no files as large as these"),
    Sentence("find the large files: find . -size +50M -not -path './.git/*'"),
    False,
)
_OUTDATED = TransferProblem(ProblemKind.REFUSED, Sentence("others have pushed meanwhile"), _WAIT, True)
_NOT_A_SERVER = TransferProblem(
    ProblemKind.BROKEN,
    Sentence("what answered is no git server"),
    Sentence("open the address in a browser: the login page of a network answers so, too; git remote -v shows it"),
    True,
)
_FORBIDDEN = TransferProblem(
    ProblemKind.FORBIDDEN,
    Sentence("this login may not do that there"),
    Sentence("ask for the right to write there, or use another login: git remote -v shows the address"),
    False,
)
_GONE = TransferProblem(
    ProblemKind.GONE, Sentence("there is no repository at the address, or this login may not see it"), _ADDRESS, False
)
_LOGIN = TransferProblem(
    ProblemKind.LOGIN,
    Sentence("the server wants a login, and git has none that it accepts"),
    Sentence("log in by hand: git fetch; a helper remembers it: git config --global credential.helper store"),
    False,
)
_BUSY = TransferProblem(ProblemKind.BUSY, Sentence("the server is busy or out of order"), _WAIT, True)
_CUT = TransferProblem(ProblemKind.OFFLINE, Sentence("the connection was cut"), _WAIT, True)

_TABLE: tuple[tuple[str, TransferProblem], ...] = (
    (r"^remote:.*no space left|^remote:.*disk quota exceeded", _NO_SPACE),
    (r"no space left on device|disk quota exceeded", _HERE_FULL),
    (
        r"file size limit|large files detected|exceeds maximum allowed size|exceeds? .*(?:size|limit) of \d"
        r"|returned error: 413|\bHTTP 413",
        _TOO_LARGE,
    ),
    (
        r"could not resolve (?:host|proxy)|name or service not known|temporary failure in name resolution",
        TransferProblem(
            ProblemKind.OFFLINE,
            Sentence("the server's name is unknown here: this machine is offline, or the address is wrong"),
            Sentence("check the connection; the address: git remote -v"),
            True,
        ),
    ),
    (
        r"remote host identification has changed|host key for .* has changed",
        TransferProblem(
            ProblemKind.OTHER,
            Sentence("the ssh key of the server has changed, and perhaps it is another server"),
            Sentence("ask who runs the server; only if it is right: ssh-keygen -R SERVER, then git fetch"),
            False,
        ),
    ),
    (
        r"host key verification failed",
        TransferProblem(
            ProblemKind.LOGIN,
            Sentence("this machine does not know the ssh key of the server yet"),
            Sentence("compare the key with the one that the server's owner names, and accept it once: git fetch"),
            False,
        ),
    ),
    (
        r"permission denied \((?:publickey|password|keyboard|gssapi|hostbased)|too many authentication failures",
        TransferProblem(
            ProblemKind.LOGIN,
            Sentence("the server accepts none of the ssh keys here"),
            Sentence("unlock or add the key: ssh-add; try it: git fetch"),
            False,
        ),
    ),
    (
        r"certificate|ca cert|issuer|self.signed",
        TransferProblem(
            ProblemKind.OTHER,
            Sentence("the server's certificate is not trusted here"),
            Sentence("check the clock and the address; for a company's own: git config --global http.sslCAInfo FILE"),
            False,
        ),
    ),
    (r"rate limit|too many requests|returned error: (?:408|429|5\d\d)|\bHTTP (?:408|429|5\d\d)\b", _BUSY),
    (r"timed out during|not responding|operation too slow|operation timed out|\bHTTP 28\b|curl 28\b", _SLOW),
    (
        r"http code 407|proxy authentication",
        TransferProblem(
            ProblemKind.LOGIN,
            Sentence("the proxy wants a login"),
            Sentence("give it one: git config --global http.proxy ADDRESS"),
            False,
        ),
    ),
    (
        r"failed to connect|couldn't connect|connection refused|network is unreachable|no route to host"
        r"|connection timed out",
        TransferProblem(
            ProblemKind.OFFLINE,
            Sentence("the server cannot be reached"),
            Sentence("check the connection; the address: git remote -v"),
            True,
        ),
    ),
    (
        r"authentication failed|could not read (?:username|password)|returned error: 401|access denied",
        _LOGIN,
    ),
    (r"returned error: 403|permission to .* denied|not allowed to push|write access .*not granted", _FORBIDDEN),
    (
        r"dubious ownership",
        TransferProblem(
            ProblemKind.FORBIDDEN,
            Sentence("the remote folder belongs to another user"),
            Sentence("if you trust it: git config --global --add safe.directory FOLDER"),
            False,
        ),
    ),
    (r"repository .*not found|does not (?:appear to be|exist)|returned error: (?:404|410)", _GONE),
    (
        r"not valid: is this a git|unable to parse remote|bad line length|invalid content-type|http/0\.9"
        r"|wrong version number",
        _NOT_A_SERVER,
    ),
    (
        r"transport '.*' not allowed|remote helper|unable to find remote helper",
        TransferProblem(
            ProblemKind.OTHER,
            Sentence("addresses of this kind are not used"),
            Sentence("use an address with https or ssh, or a folder: git remote set-url NAME ADDRESS"),
            False,
        ),
    ),
    (
        r"mismatched algorithms|hash algorithm",
        TransferProblem(
            ProblemKind.OTHER,
            Sentence("the remote has ids of another format (SHA-1 or SHA-256)"),
            Sentence("make a remote with ids of the same format: git init --bare --object-format=sha1 or sha256"),
            False,
        ),
    ),
    (
        r"fsck error|error in object",
        TransferProblem(
            ProblemKind.BROKEN,
            Sentence("the repository on the server holds what git must not take, and nothing of it was taken"),
            Sentence("look at the repository on the server: git fsck there"),
            False,
        ),
    ),
    (
        r"empty reply|transfer closed|unexpected disconnect|early eof|connection (?:reset|closed)|recv failure"
        r"|broken pipe|ssl_error_syscall|ssl_read|gnutls|tls connect|curl (?:16|18|52|55|56|92)\b"
        r"|remote failed to report",
        _CUT,
    ),
    (
        r"did not (?:send|receive) (?:all necessary|expected) objects?|inflate|pack is corrupted|bad pack|bad object"
        r"|pack has|(?:sha1|hash) mismatch|not a valid object|protocol error|expected .* packet|unknown object format"
        r"|index-pack failed|invalid index-pack output|error processing|expected '",
        TransferProblem(
            ProblemKind.BROKEN,
            Sentence("the data from the server is damaged, and nothing of it was taken"),
            Sentence("if it does not pass, look at the repository on the server: git fsck there"),
            True,
        ),
    ),
    (r"hung up|unexpected end|operation was aborted", _CUT),
    (
        r"cannot lock ref|unable to (?:create|update) .*(?:lock|ref)",
        TransferProblem(ProblemKind.OTHER, Sentence("another program is changing this repository's refs"), _WAIT, True),
    ),
)

_REFUSALS: tuple[tuple[str, TransferProblem], ...] = (
    (
        r"stale info|non-fast-forward|fetch first|needs force|cannot lock ref|failed to (?:update|lock)"
        r"|incorrect old value|reference already exists|remote ref updated",
        _OUTDATED,
    ),
    (
        r"shallow update",
        TransferProblem(
            ProblemKind.REFUSED,
            Sentence("the server takes nothing from a clone with a cut history"),
            Sentence("fetch the whole history: git fetch --unshallow"),
            False,
        ),
    ),
    (
        r"currently checked out",
        TransferProblem(
            ProblemKind.REFUSED,
            Sentence("the remote is a folder with files, and this branch is open there"),
            Sentence("use a repository without files as the remote: git init --bare FOLDER"),
            False,
        ),
    ),
    (r"unpack|index-pack|temporary object|quarantine", _BUSY),
)
_FILLER = re.compile(
    r"(?i)^(?:please make sure you have|and the repository exists|fatal: could not read from remote repository"
    r"|error: failed to push some refs|fatal: the remote end hung up|everything up-to-date|to \S+$|hint:|warning:)"
)
_LONGEST = 200


_BY_HAND = Sentence("try it by hand, which may say more: git fetch")


def problem_of(error: AgentError | tuple[RefusedRef, ...]) -> TransferProblem:
    """The problem behind a failed transfer, or behind the refs that a remote has refused."""
    if isinstance(error, tuple):
        return _of_refused(error)
    if isinstance(error, GitFailed):
        return _find(_TABLE, error.stderr) or TransferProblem(
            ProblemKind.OTHER, Sentence("git says: {words}", words=_main_line(error.stderr)), _BY_HAND, False
        )
    if isinstance(error, TooSlow):
        return _SLOW
    full = _find(_TABLE[1:2], error.message)
    return full or TransferProblem(ProblemKind.OTHER, error.message, error.hint, isinstance(error, Retryable))


def _of_refused(refused: tuple[RefusedRef, ...]) -> TransferProblem:
    """The worst of the refusals: one that does not pass comes before one that does."""
    causes = [each for each in refused if not each.reason.startswith("atomic")] or [*refused]
    found = [_refusal(each) for each in causes]
    return next((each for each in found if not each.passes), found[0])


def _refusal(refused: RefusedRef) -> TransferProblem:
    known = _find(_REFUSALS[:-1], refused.reason)
    if known is not None:
        return known
    words = _find(_TABLE[:3], refused.words)
    if words is not None and words is not _HERE_FULL:
        return words
    return _find(_REFUSALS[-1:], refused.reason) or TransferProblem(
        ProblemKind.REFUSED,
        Sentence("the server refuses {ref}: {words}", ref=refused.ref, words=_refusal_words(refused)),
        Sentence("ask who runs the server which pushes it takes; what it says: git push --dry-run"),
        False,
    )


def _refusal_words(refused: RefusedRef) -> str:
    lines = [line.removeprefix("remote:").strip() for line in refused.words.splitlines() if line.startswith("remote:")]
    first_line = _short(next((line for line in lines if line), ""))
    return first_line or _short(refused.reason)


def _find(table: Iterable[tuple[str, TransferProblem]], words: str) -> TransferProblem | None:
    flags = re.IGNORECASE | re.MULTILINE
    return next((problem for pattern, problem in table if re.search(pattern, words, flags)), None)


def _main_line(words: str) -> str:
    lines = [line.strip() for line in words.splitlines()]
    useful = [line for line in lines if line and not _FILLER.match(line)] or [line for line in lines if line]
    return _short(useful[-1]) if useful else ""


def _short(line: str) -> str:
    """A line of git or a server without logins and control characters, at most 200 characters long."""
    return "".join(each for each in without_login(line) if each.isprintable())[:_LONGEST]


LEAST = 1_000_000
"""Bytes from which a file can be the reason why a remote refuses a push for its size."""


def largest_file(git: Git, since: str, tip: str) -> str:
    """The path of the largest file that the commits after `since` bring, if it is large; else empty."""
    listed = git.run("rev-list", "--objects", "--end-of-options", f"{since}..{tip}").decode("utf-8", "surrogateescape")
    paths = {oid: path for oid, _, path in (row.partition(" ") for row in listed.splitlines()) if path}
    asked = "".join(f"{oid}\n" for oid in paths).encode()
    if not asked:
        return ""
    command = ["cat-file", "--batch-check=%(objectsize) %(objecttype) %(objectname)"]
    rows = [row.split(" ") for row in git.run(*command, stdin=asked).decode().splitlines()]
    size, path = max(((int(row[0]), paths[row[2]]) for row in rows if row[1] == "blob"), default=(0, ""))
    return path if size >= LEAST else ""


def exclude_here(vault: Vault, path: str) -> None:
    """Keep git from adding a file again, on this machine only."""
    gitdir = common_folder(vault.place.gitdir)
    lines = [exclude.exactly(path)]
    exclude.add(Files(gitdir, vault.clock, vault.options.durable), lines, vault.clock.new_id())
