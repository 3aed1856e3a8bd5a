"""The same with the real programs: what git, curl and ssh say about names, ports, certificates and folders."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from agent.errors import AgentError
from agent.git.network import Network, RefUpdate
from agent.texts import translated
from agent.vault.sync.problems import ProblemKind as Kind
from agent.vault.sync.problems import TransferProblem, problem_of
from tests.trust.git_server import git_server
from tests.vault.network.persons import own_account, shared
from tests.vaults import git, object_format


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Network:
    own_account(tmp_path, monkeypatch)
    monkeypatch.delenv("GIT_SSL_CAINFO", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return shared(tmp_path).network


def trouble(network: Network, address: str) -> TransferProblem:
    with pytest.raises(AgentError) as caught:
        network.list_refs(address)
    return problem_of(caught.value)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("https://no-such-host.invalid/x.git", Kind.OFFLINE),
        ("ssh://git@no-such-host.invalid/x.git", Kind.OFFLINE),
        ("git@no-such-host.invalid:x.git", Kind.OFFLINE),
        ("http://127.0.0.1:1/x.git", Kind.OFFLINE),
        ("ssh://git@127.0.0.1:1/x.git", Kind.OFFLINE),
        ("/no/such/folder.git", Kind.GONE),
        ("file:///no/such/folder.git", Kind.GONE),
        ("../nothing.git", Kind.GONE),
        ("ext::sh -c false", Kind.OTHER),
        ("git://127.0.0.1/x.git", Kind.OTHER),
        ("ftp://127.0.0.1/x.git", Kind.OTHER),
        ("nothing", Kind.OTHER),
    ],
)
def test_an_address_that_leads_nowhere(network: Network, address: str, kind: Kind) -> None:
    problem = trouble(network, address)
    assert problem.kind is kind, problem
    assert not problem.reason.startswith("git says"), problem
    assert translated(problem.reason, "zh") != problem.reason and translated(problem.hint, "zh") != problem.hint


def test_a_certificate_counts_if_the_person_trusts_it_not_if_the_repository_does(
    network: Network, tmp_path: Path
) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "own.pem"))
    with git_server(tmp_path / "server", object_format(), context) as server:
        git(network.git.worktree, "config", "http.sslVerify", "false")
        git(network.git.worktree, "config", "http.sslCAInfo", str(tmp_path / "own.pem"))
        problem = trouble(network, server.url)
        assert problem.kind is Kind.OTHER and problem.reason == "the server's certificate is not trusted here"
        git(network.git.worktree, "config", "--global", "http.sslCAInfo", str(tmp_path / "own.pem"))
        assert network.push(server.url, [RefUpdate("HEAD", "refs/heads/main", "")]) == ()


@contextmanager
def doorman(*, says: bytes = b"") -> Iterator[int]:
    """A port where every connection is ended, after a word; its number."""
    listener = socket.create_server(("127.0.0.1", 0))

    def work() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.sendall(says)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


@pytest.mark.parametrize("scheme", ["http", "https", "ssh"])
@pytest.mark.parametrize("says", [b"", b"who is there?\r\n" * 3])
def test_a_port_that_is_not_a_git_server_s(network: Network, scheme: str, says: bytes) -> None:
    with doorman(says=says) as port:
        problem = trouble(network, f"{scheme}://127.0.0.1:{port}/x.git")
    assert problem.kind in {Kind.OFFLINE, Kind.BROKEN}, problem
    assert problem.passes
