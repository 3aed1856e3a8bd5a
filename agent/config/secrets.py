"""Secrets: kept by reference, fetched at the last moment, and taken out of whatever is shown.

A secret's setting holds `env:NAME`, `keyring:NAME` or, when the person insists, the value itself. Nothing here stores a
value; who needs one asks for it when it is used.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import quote

from agent.errors import MissingKey

SERVICE = "vault-agent"
"""The name under which the system's keyring keeps our secrets."""

HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret as it stands in the settings; printing it shows a reference, and never a value."""

    reference: str

    def __repr__(self) -> str:
        return f"Secret({self})"

    def __str__(self) -> str:
        if not self.reference:
            return ""
        return self.reference if self.reference.startswith(("env:", "keyring:")) else HIDDEN


def from_keyring(name: str) -> str | None:
    """The secret `name` in the system's keyring, None when it is not there; `MissingKey` without the library."""
    try:
        keyring = import_module("keyring")
    except ImportError as error:
        raise MissingKey(
            f"keyring:{name} needs the keyring library, which is not installed",
            hint="pip install keyring, or keep the secret in the environment and refer to it as env:NAME",
        ) from error
    value = keyring.get_password(SERVICE, name)
    return None if value is None else str(value)


def reveal(
    secret: Secret,
    environ: Mapping[str, str] | None = None,
    lookup: Callable[[str], str | None] = from_keyring,
) -> str:
    """The value behind a secret; raises `MissingKey` when the reference leads nowhere, and when it is empty."""
    environ = os.environ if environ is None else environ
    kind, _, name = secret.reference.partition(":")
    if kind == "env":
        value, hint = environ.get(name), f"export {name}=…"
    elif kind == "keyring":
        value, hint = lookup(name), f"keyring set {SERVICE} {name}"
    else:
        value, hint = secret.reference, "set it to env:NAME or keyring:NAME"
    if not value:
        raise MissingKey(f"no secret at {secret}" if secret.reference else "a secret is not set", hint=hint)
    return value


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret value replaced by `***`, also where it is percent-encoded as in a URL."""
    forms = {form for value in secrets if value for form in (value, quote(value, safe=""), quote(value))}
    if not forms:
        return text
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.sub("|".join(map(re.escape, longest_first)), HIDDEN, text)
