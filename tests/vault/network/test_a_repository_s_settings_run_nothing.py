"""A transfer runs no command that the vault's repository names; the person's own settings and logins still work."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.errors import AgentError, GitFailed
from agent.git.network import Network, RefUpdate
from agent.vault.sync.problems import ProblemKind, problem_of
from tests.trust.git_server import CREDENTIALS, GitServer, Step, git_server, status
from tests.vault.network.persons import own_account
from tests.vaults import git, head, make_vault, object_format, write

MAIN = "refs/heads/main"
TRACKED = "+refs/heads/*:refs/remotes/origin/*"


@dataclass(frozen=True, slots=True)
class Ground:
    """A vault from a stranger, the server of its remote, and a program that leaves a file where it is run."""

    folder: Path
    root: Path
    server: GitServer
    network: Network
    settings: Path

    @property
    def canary(self) -> Path:
        return self.folder / "canary"

    @property
    def command(self) -> str:
        return str(self.folder / "command")

    def local(self, key: str, value: str) -> None:
        git(self.root, "config", "--local", "--add", key, value)

    def own(self, key: str, value: str) -> None:
        git(self.root, "config", "--global", "--add", key, value)

    def program(self, name: str, script: str) -> str:
        path = self.folder / name
        write(path, f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def saves(self) -> None:
        git(self.root, "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "next")

    def transfers(self, remote: str = "origin") -> None:
        """Each kind of transfer, as far as it goes."""
        self.saves()
        for action in (
            lambda: self.network.list_refs(remote),
            lambda: self.network.fetch(remote, [TRACKED]),
            lambda: self.network.push(remote, [RefUpdate("HEAD", MAIN, None)]),
        ):
            try:
                action()
            except AgentError:
                continue


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    settings = own_account(tmp_path, monkeypatch)
    vault = make_vault(tmp_path, {"notes/a.md": "one\n"})
    root = vault.place.root
    with git_server(tmp_path / "server", object_format()) as server:
        git(root, "remote", "add", "origin", server.url)
        git(root, "push", "-q", str(server.repository), "main")
        made = Ground(tmp_path, root, server, Network(vault.git, 10), settings)
        made.program("command", f"echo \"$0 $*\" >> '{made.canary}'\nexit 1")
        yield made


def credential_helper(ground: Ground) -> None:
    ground.server.closed = True
    ground.local("credential.helper", ground.command)


def credential_helper_of_the_address(ground: Ground) -> None:
    ground.server.closed = True
    ground.local(f"credential.http://127.0.0.1:{ground.server.port}.helper", f"!{ground.command}")


def ask_pass(ground: Ground) -> None:
    ground.server.closed = True
    ground.local("core.askPass", ground.command)


def ssh_command(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", "ssh://127.0.0.1:1/x.git")
    ground.local("core.sshCommand", ground.command)


def upload_pack(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", str(ground.server.repository))
    ground.local("remote.origin.uploadpack", ground.command)


def receive_pack(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", str(ground.server.repository))
    ground.local("remote.origin.receivepack", ground.command)


def instead_of(ground: Ground) -> None:
    ground.local(f"url.ext::{ground.command} .insteadOf", "http://")
    ground.local("protocol.ext.allow", "always")


def push_instead_of(ground: Ground) -> None:
    ground.local(f"url.ext::{ground.command} .pushInsteadOf", "http://")
    ground.local("protocol.ext.allow", "always")


def external_address(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", f"ext::{ground.command} x")
    ground.local("protocol.ext.allow", "always")


def remote_helper(ground: Ground) -> None:
    """`remote.X.vcs` names a program `git-remote-…`; one is on the PATH."""
    ground.program("bin/git-remote-planted", f"exec {ground.command}")
    ground.local("remote.origin.vcs", "planted")


def git_proxy(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", "git://127.0.0.1/x.git")
    ground.local("core.gitProxy", ground.command)
    ground.local("protocol.git.allow", "always")


def hooks(ground: Ground) -> None:
    """They are run in a push, and when a ref changes."""
    for name in ("pre-push", "reference-transaction", "post-update", "pre-auto-gc"):
        ground.program(f"vault/.git/hooks/{name}", f"exec {ground.command}")


def hooks_elsewhere(ground: Ground) -> None:
    for name in ("pre-push", "reference-transaction"):
        ground.program(f"planted/{name}", f"exec {ground.command}")
    ground.local("core.hooksPath", str(ground.folder / "planted"))


def alternates(ground: Ground) -> None:
    git(ground.folder, "clone", "-q", "--bare", str(ground.server.repository), "borrowed.git")
    borrowed = ground.folder / "borrowed.git/objects"
    write(ground.root / ".git/objects/info/alternates", f"{borrowed}\n")
    ground.local("core.alternateRefsCommand", ground.command)


def signing(ground: Ground) -> None:
    ground.local("push.gpgSign", "if-asked")
    ground.local("gpg.program", ground.command)
    git(ground.server.repository, "config", "receive.certNonceSeed", "seed")


def included(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", "ssh://127.0.0.1:1/x.git")
    write(ground.folder / "planted.conf", f"[core]\n\tsshCommand = {ground.command}\n")
    ground.local("include.path", str(ground.folder / "planted.conf"))


def of_the_worktree(ground: Ground) -> None:
    git(ground.root, "remote", "set-url", "origin", "ssh://127.0.0.1:1/x.git")
    ground.local("extensions.worktreeConfig", "true")
    write(ground.root / ".git/config.worktree", f"[core]\n\tsshCommand = {ground.command}\n")


def old_style_remote(ground: Ground) -> None:
    """A remote as a file, from before there were settings."""
    git(ground.root, "remote", "remove", "origin")
    write(ground.root / ".git/remotes/origin", f"URL: ext::{ground.command} x\n")
    ground.local("protocol.ext.allow", "always")


Plant = Callable[[Ground], None]
PLANTS: list[Plant] = [
    credential_helper, credential_helper_of_the_address, ask_pass, ssh_command, upload_pack, receive_pack, instead_of,
    push_instead_of, external_address, remote_helper, git_proxy, hooks, hooks_elsewhere, alternates, signing, included,
    of_the_worktree, old_style_remote,
]  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_no_planted_command_runs(ground: Ground, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{ground.folder / 'bin'}:{os.environ['PATH']}")
    plant(ground)
    ground.transfers()
    assert not ground.canary.exists(), ground.canary.read_text()


@pytest.mark.chaos
@pytest.mark.parametrize("plant", PLANTS)
def test_each_plant_is_real_for_an_ordinary_git(ground: Ground, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{ground.folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    plant(ground)
    ground.saves()
    for command in (["fetch", "origin"], ["push", "origin", "HEAD:main"]):
        git(ground.root, *command, check=False)
    assert ground.canary.exists()


def test_other_settings_of_the_repository_leak_nothing(ground: Ground) -> None:
    """A proxy, a header or a file of cookies that the repository names would hand the person's login to others."""
    write(ground.folder / "cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tsecret\n")
    ground.local("http.proxy", "http://127.0.0.1:1")
    ground.local(f"http.{ground.server.url}.proxy", "http://127.0.0.1:1")
    ground.local("http.sslVerify", "false")
    ground.local("http.cookieFile", str(ground.folder / "cookies"))
    ground.local("http.saveCookies", "true")
    ground.local("http.extraHeader", "X-Planted: yes")
    ground.local("url.http://127.0.0.1:1/.insteadOf", "http://")
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)
    assert all("X-Planted" not in asked and "Cookie" not in asked for asked in ground.server.headers)
    assert (ground.folder / "cookies").read_text().count("\n") == 1


HELPER = """echo "$1" >> '{record}'
test "$1" = get && cat >/dev/null && echo username={name} && echo 'password={password}'
exit 0"""


def helper(ground: Ground, password: str = CREDENTIALS[1]) -> Path:
    """Give the person a credential helper; returns the file with what it was asked."""
    record = ground.folder / "record"
    script = HELPER.format(record=record, name=CREDENTIALS[0], password=password)
    ground.own("credential.helper", ground.program("helper", script))
    return record


def test_the_person_s_own_helper_gives_the_login(ground: Ground) -> None:
    ground.server.closed = True
    record = helper(ground)
    ground.saves()
    ground.network.fetch("origin", [TRACKED])
    assert ground.network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    assert git(ground.server.repository, "rev-parse", "main").strip() == head(ground.root)
    assert set(record.read_text().split()) == {"get"}


def test_a_large_push_with_a_login_arrives_in_pieces(ground: Ground) -> None:
    """git sends more than a megabyte without knowing its length, after an empty request that asks for the login."""
    ground.server.closed = True
    helper(ground)
    write(ground.root / "large.bin", os.urandom(3_000_000))
    git(ground.root, "add", "-A")
    git(ground.root, "commit", "-q", "-m", "large")
    assert ground.network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    assert any(each.get("Transfer-Encoding") == "chunked" for each in ground.server.headers)
    git(ground.server.repository, "fsck", "--full")


def test_a_helper_for_one_address_is_asked_too(ground: Ground) -> None:
    ground.server.closed = True
    script = HELPER.format(record=ground.folder / "record", name=CREDENTIALS[0], password=CREDENTIALS[1])
    address = f"http://127.0.0.1:{ground.server.port}"
    ground.own(f"credential.{address}.helper", f"!{ground.program('helper', script)}")
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)


def test_a_login_in_the_address_is_used_and_never_shown(ground: Ground) -> None:
    ground.server.closed = True
    name, password = CREDENTIALS[0], CREDENTIALS[1].replace(" ", "%20")
    git(ground.root, "remote", "set-url", "origin", ground.server.url.replace("://", f"://{name}:{password}@"))
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)
    git(ground.root, "remote", "set-url", "origin", ground.server.url.replace("://", "://hidden-token@"))
    with pytest.raises(GitFailed) as caught:
        ground.network.list_refs("origin")
    assert "hidden-token" not in caught.value.stderr + caught.value.message
    assert problem_of(caught.value).kind is ProblemKind.LOGIN


def test_a_server_that_refuses_a_good_login_for_a_moment_makes_nobody_forget_it(ground: Ground) -> None:
    ground.server.closed = True
    record = helper(ground)
    ground.server.plan(status(401), Step.LISTED, lasting=True)
    with pytest.raises(GitFailed) as caught:
        ground.network.fetch("origin", [TRACKED])
    assert problem_of(caught.value).kind is ProblemKind.LOGIN
    ground.server.heal()
    ground.network.fetch("origin", [TRACKED])
    assert set(record.read_text().split()) == {"get"}


def test_a_wrong_login_and_none_are_the_same_problem(ground: Ground) -> None:
    ground.server.closed = True
    with pytest.raises(GitFailed) as caught:
        ground.network.fetch("origin", [TRACKED])
    assert problem_of(caught.value).kind is ProblemKind.LOGIN
    helper(ground, "wrong")
    with pytest.raises(GitFailed) as caught:
        ground.network.fetch("origin", [TRACKED])
    assert problem_of(caught.value).kind is ProblemKind.LOGIN


@pytest.mark.parametrize("where", ["core.askPass", "GIT_ASKPASS", "SSH_ASKPASS"])
def test_nothing_asks_the_person(ground: Ground, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a window of their own for passwords stays closed: nobody may sit there."""
    ground.server.closed = True
    monkeypatch.setenv("DISPLAY", ":0")
    if where == "core.askPass":
        ground.own(where, ground.command)
    else:
        monkeypatch.setenv(where, ground.command)
    ground.transfers()
    assert not ground.canary.exists()


def test_the_person_s_own_short_names_for_addresses_work(ground: Ground) -> None:
    ground.own(f"url.http://127.0.0.1:{ground.server.port}/.insteadOf", "home:")
    git(ground.root, "remote", "set-url", "origin", "home:vault.git")
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)


@pytest.mark.parametrize("condition", ["gitdir:{root}/", "hasconfig:remote.*.url:**/vault.git"])
def test_the_person_s_own_settings_for_some_repositories_are_in_force(ground: Ground, condition: str) -> None:
    ground.server.closed = True
    helper(ground)
    own = ground.settings.rename(ground.folder / "for-some.conf")
    write(ground.settings, f'[includeIf "{condition.format(root=ground.root)}"]\n\tpath = {own}\n')
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)


def test_an_address_adds_no_setting(ground: Ground) -> None:
    planted = f'x"\n[core]\n\tsshCommand = {ground.command}\n[remote "y"]\n\turl = "z'
    for address in (f"ssh://127.0.0.1:1/{planted}", f"{ground.folder}/\\{planted}"):
        with pytest.raises(AgentError):
            ground.network.fetch(address, [TRACKED])
    assert not ground.canary.exists()


SSH = """echo "$@" >> '{record}'
shift $(($# - 1))
eval "exec $1"
"""


@pytest.mark.parametrize("where", ["PATH", "core.sshCommand", "GIT_SSH_COMMAND", "GIT_SSH"])
@pytest.mark.parametrize("address", ["ssh://git@vault.invalid{path}", "git@vault.invalid:{path}"])
def test_the_person_s_own_ssh_is_used_and_told_not_to_ask(
    ground: Ground, where: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = ground.folder / "record"
    ssh = ground.program("bin/ssh", SSH.format(record=record))
    match where:
        case "PATH":
            monkeypatch.setenv("PATH", f"{ground.folder / 'bin'}:{os.environ['PATH']}")
        case "core.sshCommand":
            ground.own(where, f"{ssh} -i mine")
        case "GIT_SSH_COMMAND":
            monkeypatch.setenv(where, f"{ssh} -i mine")
        case _:
            monkeypatch.setenv(where, ssh)
    git(ground.root, "remote", "set-url", "origin", address.format(path=ground.server.repository))
    assert ground.network.list_refs("origin")[MAIN] == head(ground.root)
    ground.saves()
    assert ground.network.push("origin", [RefUpdate("HEAD", MAIN, None)]) == ()
    for line in record.read_text().splitlines():
        assert "git@vault.invalid" in line
        assert ("-i mine" in line) is where.endswith(("Command", "COMMAND"))
        assert ("-oBatchMode=yes" in line) is (where != "GIT_SSH")
