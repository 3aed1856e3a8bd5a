"""This machine's own key, with which it signs the commits that this program makes here.

The key is made by ssh-keygen, without a passphrase, as the daemon signs while nobody is there to type one. It is in the
vault's private folder on this machine, for its owner only, and never in the vault. A clone has a key of its own.
"""

import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from agent.config import durable
from agent.config.private import make_folder
from agent.config.ssh_key import PublicKey, parse_public_key
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError, os_reason

SECONDS = 20.0
"""The most seconds for one signature; it takes some hundredths."""
_NAMESPACE = "git"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The key of one vault on this machine, in a `folder` of its own."""

    folder: Path

    @property
    def path(self) -> Path:
        """The private half while commits are signed; it has another name while they are not."""
        return self.folder / "key"

    @property
    def is_on(self) -> bool:
        """True if commits made here are signed."""
        return self.path.is_file()

    @property
    def public(self) -> PublicKey | None:
        """The public half while commits are signed; None if they are not, or if it cannot be read."""
        if not self.is_on:
            return None
        try:
            return parse_public_key(self._public.read_text("utf-8"))
        except (OSError, ValueError):
            return None

    def turn_on(self) -> PublicKey:
        """Sign from now on, with the key that was used before or a new one; returns its public half.

        Raises `UserError` if this machine cannot sign; nothing is signed then.
        """
        program()
        was_on = self.is_on
        if not was_on and self._unused.is_file():
            self._unused.replace(self.path)
        elif not was_on:
            self._make()
        try:
            self._signed(b"a try\n")
        except AgentError:
            if not was_on:
                self.turn_off()
            raise
        public = self.public
        if public is None:
            raise UserError(
                "the public half of this machine's key cannot be read: {path}",
                hint="delete the folder, then make a new key: vault-agent sync sign",
                path=self._public,
            )
        return public

    def turn_off(self) -> None:
        """Sign no more; the key is kept, so that it need not be approved again."""
        if self.is_on:
            self.path.replace(self._unused)

    def sign(self, data: bytes) -> bytes:
        """The signature; empty if commits are not signed here, or if it fails: a note is saved without one, too."""
        if not self.is_on:
            return b""
        try:
            return self._signed(data)
        except AgentError as error:
            logger.warning("a commit is not signed: %s", error.message)
            return b""

    def check(self) -> None:
        """Raise `UserError` if commits are to be signed here and cannot be."""
        if self.is_on:
            self._signed(b"a try\n")

    @property
    def _public(self) -> Path:
        return self.folder / "key.pub"

    @property
    def _unused(self) -> Path:
        return self.folder / "key-unused"

    def _make(self) -> None:
        make_folder(self.folder)
        with tempfile.TemporaryDirectory(dir=self.folder) as new:
            draft = Path(new) / "key"
            _run("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(draft))
            durable.replace(self._public, draft.with_suffix(".pub").read_text("utf-8"))
            durable.replace(self.path, draft.read_text("utf-8"))

    def _signed(self, data: bytes) -> bytes:
        return _run("-Y", "sign", "-n", _NAMESPACE, "-f", str(self.path), data=data)


def program() -> str:
    """The path of ssh-keygen; raises `UserError` if it is missing."""
    found = shutil.which("ssh-keygen")
    if found is None:
        raise UserError("ssh-keygen is not installed, or not on the PATH", hint="install OpenSSH's client, then again")
    return found


def _run(*args: str, data: bytes = b"") -> bytes:
    variables = {name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"}  # the key is a file
    variables["SSH_ASKPASS_REQUIRE"] = "never"
    try:
        done = subprocess.run(
            [program(), *args],
            input=data,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env=variables,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError("ssh-keygen did not finish in {seconds:.0f} s", seconds=SECONDS) from error
    except OSError as error:
        raise UserError("ssh-keygen cannot be run: {reason}", reason=os_reason(error)) from error
    if done.returncode:
        words = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise UserError("ssh-keygen failed: {words}", hint="try again: vault-agent sync sign", words=words[-300:])
    return done.stdout
