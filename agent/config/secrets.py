"""Secrets: stored by reference, and looked up only when used.

A secret's setting is `env:NAME`, `keyring:NAME`, `file:PATH` (a file that only its owner may read) or the value itself,
which only a person can write there by hand. Such files hold one key each, in the machine's folder of settings.
`masking` removes values from a text.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from agent.config.directories import VAULT_FILE
from agent.config.masking import HIDDEN, SHORTEST
from agent.config.private import FILE, own_folder, replace
from agent.dataclass import dataclass
from agent.errors import ConfigError, MissingKey, os_reason
from agent.lazy import later

if TYPE_CHECKING:
    from agent.config.addresses import keys_in
else:  # few settings and variables have an address
    keys_in = later("agent.config.addresses", "keys_in")

MOST_BYTES = 16 * 1024
"""The largest key file: a key is one line."""
_OTHERS = 0o077


def save_key(folder: Path, name: str, key: str) -> Path:
    """Write `key` into the file `name` in `folder` with mode 600, and return its path; raises `ConfigError`."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "a key is one word of letters, digits and signs; this is none. Nothing was changed"
            if key
            else "no key was given. Nothing was changed",
            hint="copy the key again, and repeat the command",
        )
    own_folder(folder)
    path = folder / name
    replace(path, f"{key}\n")
    path.chmod(FILE)
    return path


def load_key(path: Path) -> str:
    """The key in a file, empty if there is no file; raises `MissingKey` if others may read it, or it is in a vault."""
    path = path.expanduser()
    if not path.is_absolute():
        raise MissingKey(
            "file:{path} is no whole path", hint="name the file from the root: file:/home/you/keys/name", path=path
        )
    vault = next((folder for folder in path.resolve().parents if (folder / VAULT_FILE).is_file()), None)
    if vault is not None:
        raise MissingKey(
            "the key file {path} lies in the vault {vault}",
            hint="move it out: a vault is committed",
            path=path,
            vault=vault,
        )
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise MissingKey(
            "the key file {path} cannot be read: {reason}",
            hint="chmod 600 {path}, as its owner",
            path=path,
            reason=os_reason(error),
        ) from error
    try:
        found = os.fstat(descriptor)
        if not S_ISREG(found.st_mode):
            raise MissingKey("{path} is no file with a key", hint="name the file itself: file:PATH", path=path)
        if found.st_mode & _OTHERS:
            raise MissingKey("others on this machine may read the key file {path}", hint="chmod 600 {path}", path=path)
        return os.read(descriptor, MOST_BYTES).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)


SERVICE = "vault-agent"
"""The service name of the program's secrets in the system's keyring."""

_KEPT_AT = ("env:", "keyring:", "file:")
_VARIABLE = re.compile(r"[A-Z0-9_]*API_KEY|VAULT_AGENT_[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as written in the settings; printing it shows the reference, never a value."""

    reference: str

    def __repr__(self) -> str:
        return f"Secret({self})"

    def __str__(self) -> str:
        if not self.reference:
            return ""
        return HIDDEN if self.is_literal else self.reference

    @property
    def is_literal(self) -> bool:
        """True if the setting holds the secret itself."""
        return bool(self.reference) and not self.reference.startswith(_KEPT_AT)


def from_keyring(name: str) -> str | None:
    """The secret `name` in the system's keyring, None if not found; raises `MissingKey` without the keyring library."""
    try:
        keyring = import_module("keyring")
    except ImportError as error:
        raise MissingKey(
            "keyring:{name} needs the keyring library, which is not installed",
            hint="pip install keyring, or keep the secret in the environment and refer to it as env:NAME",
            name=name,
        ) from error
    value = keyring.get_password(SERVICE, name)
    return None if value is None else str(value)


def reveal(
    secret: Secret,
    environ: Mapping[str, str] | None = None,
    lookup: Callable[[str], str | None] = from_keyring,
) -> str:
    """The value of a secret; raises `MissingKey` when the reference or its value is missing or empty."""
    value = _look_up(secret, os.environ if environ is None else environ, lookup)
    if value:
        return value
    kind, _, name = secret.reference.partition(":")
    match kind:
        case "env":
            why, hint = "there is no key at {secret}: the variable is not set", "export {name}=…"
        case "keyring":
            why, hint = "there is no key at {secret}", "keyring set {service} {name}"
        case "file":
            why, hint = "there is no key at {secret}: the file is missing or empty", "put the key into {name}"
        case _:
            why, hint = "a key is not set", "set it to env:NAME, file:PATH or keyring:NAME"
    raise MissingKey(why, hint=hint, secret=secret, name=name, service=SERVICE)


def _look_up(secret: Secret, environ: Mapping[str, str], lookup: Callable[[str], str | None]) -> str | None:
    """What is found at a secret's place, None or empty for nothing."""
    kind, _, name = secret.reference.partition(":")
    match kind:
        case "env":
            return environ.get(name)
        case "keyring":
            return lookup(name)
        case "file":
            return load_key(Path(name))
        case _:
            return secret.reference


def known_secrets(
    secrets: Iterable[Secret],
    environ: Mapping[str, str] | None = None,
    lookup: Callable[[str], str | None] = from_keyring,
    addresses: Iterable[str] = (),
) -> tuple[str, ...]:
    """The values of these secrets, the logins and keys in them and in `addresses`, and those in the environment.

    References without a value are left out: `reveal` raises the error when the value is used. So are values with fewer
    than 8 characters: they are words such as `none`, which some local servers require.
    """
    environ = os.environ if environ is None else environ
    values = {_value(secret, environ, lookup) for secret in secrets}
    values |= {key for text in (*values, *addresses) if "://" in text for key in keys_in(text)}
    return tuple(sorted({value for value in values if len(value) >= SHORTEST} | set(secrets_of(environ))))


def secrets_of(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the variables that hold a key: every `…API_KEY`, and every `VAULT_AGENT_…` that ends in `KEY`,
    `TOKEN`, `SECRET` or `PASSWORD`; and the logins and keys in the addresses of all variables, such as `HTTPS_PROXY`.
    References and values with fewer than 8 characters are left out."""
    values = {value for name, value in environ.items() if _VARIABLE.fullmatch(name) and not value.startswith(_KEPT_AT)}
    values |= {key for text in environ.values() if "://" in text for key in keys_in(text)}
    return tuple(sorted(value for value in values if len(value) >= SHORTEST))


def refuse_literal(key: str, value: str) -> None:
    """Raise `ConfigError` if `value` is a secret itself and not a reference; the message does not repeat it.

    Words with fewer than 8 characters, such as `none`, are no secrets: some local servers require one.
    """
    if Secret(value.strip()).is_literal and len(value.strip()) >= SHORTEST:
        raise ConfigError(
            "{key} takes no key on the command line: it would stay in the shell's history. Nothing was changed",
            hint="type or paste it instead: vault-agent config set {key} --prompt; "
            "or name its place: env:NAME, file:PATH, keyring:NAME",
            key=key,
        )


def not_looked_up(name: str) -> None:
    """A `lookup` without the system's keyring, which may ask the person for a password; always None."""


def secrets_in(sections: Iterable[object]) -> Iterator[Secret]:
    """Every secret in these sections of the settings (dataclasses of dataclasses)."""
    for each in sections:
        if isinstance(each, Secret):
            yield each
        elif is_dataclass(each):
            yield from secrets_in(getattr(each, field.name) for field in fields(each))


def _value(secret: Secret, environ: Mapping[str, str], lookup: Callable[[str], str | None]) -> str:
    try:
        return _look_up(secret, environ, lookup) or ""
    except MissingKey:
        return ""
