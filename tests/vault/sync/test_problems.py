"""Each failure of a transfer gets its kind from git's words, and a hint; a login in an address is never shown."""

import pytest

from agent.config.addresses import without_login
from agent.errors import GitFailed, Retryable, UserError, os_reason
from agent.git.network import RefusedRef
from agent.git.running import TooSlow
from agent.vault.sync.problems import ProblemKind as Kind
from agent.vault.sync.problems import problem_of

NO_ACCESS = """fatal: Could not read from remote repository.

Please make sure you have the correct access rights
and the repository exists.
"""
CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
Host key verification failed.
"""
URL = "fatal: unable to access 'https://example.org/x.git/': "
MESSAGES = [
    (URL + "Could not resolve host: example.org", Kind.OFFLINE, True),
    (f"ssh: Could not resolve hostname example.org: Name or service not known\n{NO_ACCESS}", Kind.OFFLINE, True),
    (f"ssh: connect to host example.org port 22: Connection refused\n{NO_ACCESS}", Kind.OFFLINE, True),
    (f"ssh: connect to host example.org port 22: No route to host\n{NO_ACCESS}", Kind.OFFLINE, True),
    (f"ssh: connect to host example.org port 22: Connection timed out\n{NO_ACCESS}", Kind.OFFLINE, True),
    (URL + "Failed to connect to example.org port 443 after 0 ms: Couldn't connect to server", Kind.OFFLINE, True),
    (f"client_loop: send disconnect: Broken pipe\n{NO_ACCESS}", Kind.OFFLINE, True),
    (f"Timeout, server example.org not responding.\n{NO_ACCESS}", Kind.BUSY, True),
    (URL + "Operation too slow. Less than 1 bytes/sec transferred the last 45 seconds", Kind.BUSY, True),
    (URL + "The requested URL returned error: 503", Kind.BUSY, True),
    (URL + "The requested URL returned error: 429", Kind.BUSY, True),
    ("error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500", Kind.BUSY, True),
    ("fatal: Authentication failed for 'https://example.org/x.git/'", Kind.LOGIN, False),
    ("fatal: could not read Username for 'https://example.org': terminal prompts disabled", Kind.LOGIN, False),
    (f"git@example.org: Permission denied (publickey).\n{NO_ACCESS}", Kind.LOGIN, False),
    (f"Host key verification failed.\n{NO_ACCESS}", Kind.LOGIN, False),
    (CHANGED + NO_ACCESS, Kind.OTHER, False),
    (URL + "server certificate verification failed. CAfile: none CRLfile: none", Kind.OTHER, False),
    (URL + "SSL certificate problem: certificate has expired", Kind.OTHER, False),
    (f"remote: Write access not granted.\n{URL}The requested URL returned error: 403", Kind.FORBIDDEN, False),
    (f"ERROR: Permission to a/b.git denied to carol.\n{NO_ACCESS}", Kind.FORBIDDEN, False),
    ("remote: Repository not found.\nfatal: repository 'https://example.org/x.git/' not found", Kind.GONE, False),
    (f"ERROR: Repository not found.\n{NO_ACCESS}", Kind.GONE, False),
    (f"fatal: '/mnt/stick/x.git' does not appear to be a git repository\n{NO_ACCESS}", Kind.GONE, False),
    ("error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413", Kind.TOO_LARGE, False),
    ("fatal: https://example.org/x.git/info/refs not valid: is this a git repository?", Kind.BROKEN, True),
    ("error: object 12ab: hasDotgit: contains '.git'\nfatal: fsck error in packed object", Kind.BROKEN, False),
    ("error: RPC failed; curl 18 transfer closed with outstanding read data remaining", Kind.OFFLINE, True),
    ("fatal: the remote end hung up unexpectedly", Kind.OFFLINE, True),
    ("fatal: write error: No space left on device\nfatal: index-pack failed", Kind.OTHER, True),
    ("remote: fatal: write error: No space left on device\nerror: remote unpack failed", Kind.BUSY, True),
    ("fatal: transport 'ext' not allowed", Kind.OTHER, False),
    ("fatal: update_ref failed for ref 'refs/x': cannot lock ref 'refs/x': is at 1 but expected 2", Kind.OTHER, True),
    ("fatal: something that nobody has seen before", Kind.OTHER, False),
]  # fmt: skip


@pytest.mark.parametrize(("words", "kind", "passes"), MESSAGES, ids=lambda each: str(each)[:40])
def test_the_words_of_git_tell_what_stands_in_the_way(words: str, kind: Kind, passes: bool) -> None:
    problem = problem_of(GitFailed("fetch", 128, words))
    assert (problem.kind, problem.passes) == (kind, passes)
    assert problem.reason and problem.hint


REFUSALS = [
    (RefusedRef("refs/heads/main", "stale info"), Kind.REFUSED, True),
    (RefusedRef("refs/heads/main", "non-fast-forward"), Kind.REFUSED, True),
    (RefusedRef("refs/heads/main", "fetch first"), Kind.REFUSED, True),
    (RefusedRef("refs/heads/main", "pre-receive hook declined"), Kind.REFUSED, False),
    (RefusedRef("refs/heads/main", "protected branch hook declined"), Kind.REFUSED, False),
    (RefusedRef("refs/heads/main", "branch is currently checked out"), Kind.REFUSED, False),
    (RefusedRef("refs/heads/main", "shallow update not allowed"), Kind.REFUSED, False),
    (RefusedRef("refs/heads/main", "unpacker error"), Kind.BUSY, True),
    (RefusedRef("refs/heads/main", "unpacker error", "remote: fatal: No space left on device"), Kind.BUSY, True),
    (
        RefusedRef(
            "refs/heads/main",
            "pre-receive hook declined",
            "remote: error: File film.mp4 is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB",
        ),
        Kind.TOO_LARGE,
        False,
    ),
]


@pytest.mark.parametrize(("refused", "kind", "passes"), REFUSALS, ids=lambda each: str(each)[:60])
def test_a_refused_ref_tells_it_too(refused: RefusedRef, kind: Kind, passes: bool) -> None:
    problem = problem_of((refused,))
    assert (problem.kind, problem.passes) == (kind, passes)


def test_of_several_refusals_the_one_that_needs_a_person_is_told() -> None:
    refused = (
        RefusedRef("refs/heads/a", "atomic push failed"),
        RefusedRef("refs/heads/b", "stale info"),
        RefusedRef("refs/heads/c", "pre-receive hook declined", "remote: \x1b[31mno pushes on Sundays\nremote: sorry"),
    )
    assert problem_of(refused).reason == "the server refuses refs/heads/c: [31mno pushes on Sundays"
    assert problem_of(refused[:2]).passes


def test_what_git_says_is_told_without_its_filler() -> None:
    problem = problem_of(GitFailed("fetch", 128, f"fatal: a new kind of trouble\n{NO_ACCESS}"))
    assert problem.reason == "git says: fatal: a new kind of trouble"


def test_the_time_limit_and_other_errors() -> None:
    assert problem_of(TooSlow("git {name} did not finish", name="fetch")).kind is Kind.BUSY
    reason = os_reason(OSError(28, "No space left on device"))
    full = problem_of(Retryable("nothing could be transferred: {reason}", reason=reason))
    assert (full.reason, full.passes) == ("this disk is full", True)
    moved = problem_of(Retryable("{name} is changed without a pause", name="origin"))
    assert (moved.kind, moved.passes) == (Kind.OTHER, True)
    other = problem_of(UserError("there is no remote {name}", hint="git remote -v lists them", name="x"))
    assert (other.reason, other.hint, other.passes) == ("there is no remote x", "git remote -v lists them", False)


@pytest.mark.parametrize(
    "address",
    ["https://carol:se%2Fcret@example.org/x", "https://se-cret@example.org/x", "ssh://carol:secret@example.org:22/x"],
)
def test_a_login_is_never_shown(address: str) -> None:
    assert "cret" not in without_login(f"fatal: unable to access '{address}': Nothing")
    refused = RefusedRef("refs/heads/main", "no", f"remote: use '{address}'")
    for error in (GitFailed("fetch", 1, f"fatal: odd thing at {address}"), (refused,)):
        problem = problem_of(error)
        assert "cret" not in problem.reason + problem.hint and "example.org" in problem.reason
