"""Runs git against the person's own remote: with their logins, without a question, and never longer than allowed.

Logins come from the person's own credential helpers and ssh configuration: those of the machine and of the account,
never those of the repository, which may come from a stranger (`clean_repository`). Nothing may ask: neither git, nor
a helper, nor ssh. A login is only read; git does not tell a helper to forget one, because a server may refuse a good
login for a moment, and nobody is there to type it again.

For a remote in a folder of this machine, git starts the other side as well: `receive-pack` there runs the hooks of
that repository, which is its right as a server's. Hooks of the vault's own repository are never run.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import PurePath

from agent.config.addresses import without_login
from agent.config.directories import is_clock_set
from agent.config.receiving_limits import TooMuch
from agent.dataclass import dataclass
from agent.errors import GitFailed, Retryable, UserError, os_reason
from agent.git.clean_repository import CleanRepository, clean_repository
from agent.git.repository import is_id
from agent.git.runner import Git

PROTOCOLS = ("https", "http", "ssh", "file")
HARMLESS = (
    *("badDateOverflow", "badEmail", "badFilemode", "badName", "badTagName", "badTimezone", "badDate"),
    *("missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail"),
    *("missingTaggerEntry", "multipleAuthors", "nulInCommit", "zeroPaddedDate", "zeroPaddedFilemode"),
)
"""Faults that real histories have, from old programs: git reports them and goes on. Others refuse the transfer: names
such as `.git` or `..` in a folder, a folder out of order or with a name twice, `.gitmodules` with a command in it."""
QUIET = {
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GCM_GUI_PROMPT": "false",
}
_SSH = "-oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=3"
_LOGIN_READER = """!f() { test "$1" = get || exit 0; unset GIT_CONFIG_COUNT; exec git credential fill; }; f"""
"""Asks the person's own helpers, which the fixed settings have taken out, and passes no `store` or `erase` on."""
SETTINGS = (
    *((f"protocol.{name}.allow", "always") for name in PROTOCOLS),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", _LOGIN_READER),
    ("credential.interactive", "false"),
    ("http.lowSpeedLimit", "1"),
    ("http.lowSpeedTime", "45"),
    ("fetch.fsckObjects", "true"),
    *((f"fetch.fsck.{name}", "warn") for name in HARMLESS),
    ("fetch.unpackLimit", "1"),  # all that comes is one file, which can have a limit
    ("fetch.writeCommitGraph", "false"),
    ("push.gpgSign", "false"),
    ("advice.pushUpdateRejected", "false"),
)
_WITHOUT_SSH = ("https://", "http://", "file://", "/")
_LOST = "remote failed to report status"


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """A change of one ref of a remote: `source` is a revision here, empty to delete; `ref` is a full name there.

    `expected` is the id that the ref must have there, empty if it must not exist; None allows a fast-forward only.
    """

    source: str
    ref: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class RefusedRef:
    """A ref that was not changed, and the reason as git gives it: `stale info`, `pre-receive hook declined`.

    `words` is all that git and the server said about the push; a hook explains itself there.
    """

    ref: str
    reason: str
    words: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Network:
    """Transfers between the repository of `git` and its remotes; each command is ended after `seconds`.

    A remote is the name of one, or an address. All methods raise `GitFailed` if the transfer fails (`sync.problems`
    tells why), `TooSlow` after the time limit, when it is unknown whether a push has arrived, and `Retryable` if no
    file can be made here.
    """

    git: Git
    seconds: float = 120.0

    def fetch(
        self,
        address_or_remote: str,
        refspecs: Sequence[str],
        most: int = 0,
        inspect: Callable[[Git, Sequence[str], Sequence[str]], None] = lambda git, new, known: None,
    ) -> None:
        """Fetch what the refspecs name: all refs are set, or none. Tags and submodules only if they are named.

        `most` is the number of bytes that may come; 0 for any. `inspect` is called with what has come, before any of it
        is in this repository: the git to read it with, the new commits, and those that were here before. If it raises,
        nothing is taken. Raises `TooMuch` if more comes than that.
        """
        options = ["-q", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc"]
        address = self._address(address_or_remote)
        with self._clean(address, with_refs=True) as (clean, repository):
            try:
                _run(clean, "fetch", *options, "--end-of-options", address, *refspecs, most=most)
            except GitFailed as error:
                if "did not receive expected object" in error.stderr and self._is_partial():
                    raise UserError(
                        "this repository is a partial clone: what it left out is missing here",
                        hint="fetch it once: git fetch --refetch --no-filter",
                    ) from error
                if most and repository.size() >= most:  # git does not say that its file was as large as it may be
                    raise _too_much(most) from error
                raise
            if most and repository.size() > most:
                raise _too_much(most)
            inspect(clean, repository.new_tips(), [*repository.refs.values()])
            repository.hand_over()

    def push(self, remote: str, updates: Sequence[RefUpdate], *, atomic: bool = False) -> tuple[RefusedRef, ...]:
        """Change refs of the remote; returns those that it refused, nothing if all are done.

        With `atomic`, one that is refused stops the others. Raises `UserError` where the clock is set.
        """
        if not updates:
            return ()
        if is_clock_set():
            raise UserError(
                "the clock is set, and so nothing is pushed: others would get times that are not true",
                hint="start it without VAULT_AGENT_CLOCK__START and VAULT_AGENT_CLOCK__RATE",
            )
        address = self._address(remote, push=True)
        leases = [f"--force-with-lease={each.ref}:{each.expected}" for each in updates if each.expected is not None]
        refspecs = [f"{self._id(each.source)}:{each.ref}" for each in updates]
        options = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"]
        options += ["--atomic"] if atomic else []
        with self._clean(address) as (clean, _):
            out, words = _run(clean, "push", *options, *leases, "--end-of-options", address, *refspecs, ok=(0, 1))
        return tuple(_refused(out, updates, words))

    def list_refs(self, remote: str, patterns: Sequence[str] = ()) -> dict[str, str]:
        """The id of each ref of the remote, `HEAD` included; with patterns only those whose last parts match one."""
        address = self._address(remote)
        with self._clean(address) as (clean, _):
            out, _ = _run(clean, "ls-remote", "-q", "--end-of-options", address, *patterns)
        rows = (row.partition("\t") for row in out.decode("utf-8", "surrogateescape").splitlines())
        return {ref: oid for oid, _, ref in rows if not ref.endswith("^{}")}

    @contextmanager
    def _clean(self, address: str, *, with_refs: bool = False) -> Iterator[tuple[Git, CleanRepository]]:
        try:
            with clean_repository(self.git, address, with_refs=with_refs) as made:
                yield self._git(made, address), made
        except OSError as error:
            raise Retryable(
                "nothing could be transferred: {reason}",
                hint="vault-agent doctor looks for the cause",
                reason=os_reason(error),
            ) from error

    def _git(self, made: CleanRepository, address: str) -> Git:
        variables = QUIET
        if not address.startswith(_WITHOUT_SSH):
            variables = QUIET | _ssh(Git(made.gitdir, made.worktree))
        durable, seconds = self.git.durable, self.seconds
        return Git(made.gitdir, made.worktree, durable=durable, timeout=seconds, settings=SETTINGS, variables=variables)

    def _is_partial(self) -> bool:
        return bool(self.git.fields("config", "-z", "--get-regexp", r"^remote\..*\.promisor$", ok=(0, 1)))

    def _id(self, source: str) -> str:
        if not source or is_id(source):
            return source
        return self.git.run("rev-parse", "--verify", "-q", "--end-of-options", source).decode().strip()

    def _address(self, remote: str, *, push: bool = False) -> str:
        """The address of a remote. A path is absolute in the answer: the transfer runs in another folder.

        No remote has a name with a colon, or one that begins with a slash: git is not asked about it.
        """
        if ":" in remote.partition("/")[0]:
            return remote
        if remote.startswith("/"):
            return os.path.normpath(remote)
        rows = self.git.fields("config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$", ok=(0, 1))
        urls: dict[str, str] = {}
        for key, _, url in (row.partition("\n") for row in rows):
            urls.setdefault(key, url)
        found = (urls.get(f"remote.{remote}.pushurl") if push else None) or urls.get(f"remote.{remote}.url")
        if not found and not {"/", ":"} & set(remote):
            raise UserError("there is no remote {name}", hint="git remote -v lists them", name=remote)
        remote = found or remote
        before = remote.partition("/")[0]
        return remote if ":" in before else os.path.normpath(self.git.worktree / remote)


def _run(git: Git, command: str, *args: str, ok: Sequence[int] = (0,), most: int = 0) -> tuple[bytes, str]:
    """Run a transfer that writes at most `most` bytes (0: any number); returns its output and what git and the server
    said. A push may end with 1 only for refusals."""
    running = git.start(command, *args)
    running.limit_file(most)
    try:
        out = running.wait(ok)
    except GitFailed as error:
        raise GitFailed(command, error.code, without_login(error.stderr)) from None
    except BaseException:
        running.kill()
        raise
    words = without_login(running.stderr.decode("utf-8", "replace"))
    if running.code and (b"\n!\t" not in b"\n" + out or _LOST.encode() in out):
        raise GitFailed(command, running.code, words or _LOST)
    return out, words


def _too_much(most: int) -> TooMuch:
    return TooMuch(
        "what came is refused and was dropped: it has more than {most:g} MB",
        hint="look at it where it was made; if it is meant so: vault-agent config set git.fetch_megabytes NUMBER",
        most=most / 1_000_000,
    )


def _refused(out: bytes, updates: Sequence[RefUpdate], words: str) -> Iterator[RefusedRef]:
    """The refused updates from `push --porcelain`: rows of a flag, `from:to` and a summary with the reason."""
    answers: dict[str, tuple[str, str]] = {}
    for row in out.decode("utf-8", "replace").splitlines():
        flag, *rest = row.split("\t")
        if len(rest) == 2 and len(flag) == 1:
            reason = rest[1].partition("(")[2].removesuffix(")") or rest[1]
            answers[rest[0].partition(":")[2]] = flag, without_login(reason)
    for update in updates:
        flag, reason = answers.get(update.ref, ("!", _LOST))
        if flag == "!":
            yield RefusedRef(update.ref, reason, words)


def _ssh(git: Git) -> dict[str, str]:
    """The person's own ssh command, told not to ask if it is the usual program."""
    command = os.environ.get("GIT_SSH_COMMAND", "")
    command = command or git.run("config", "--get", "core.sshCommand", ok=(0, 1)).decode("utf-8", "replace").strip()
    if not command and os.environ.get("GIT_SSH"):
        return {}
    program, _, options = (command or "ssh").partition(" ")
    plain = PurePath(program).name in {"ssh", "ssh.exe"}
    return {"GIT_SSH_COMMAND": f"{program} {_SSH} {options}".strip() if plain else command}
