"""The key of a model: what it is, and whether it is there. Asks no server, and loads little."""

from agent.config.run_settings import LlmSettings
from agent.config.secrets import reveal
from agent.dataclass import dataclass
from agent.errors import ConfigError, MissingKey, UserError
from agent.llm.endpoint import Endpoint
from agent.llm.presets import Server, named_model
from agent.texts import Sentence


@dataclass(frozen=True, slots=True)
class MissingModelKey:
    """The main model's key is not there: why, and the setting that names it."""

    why: str
    setting: str


def missing_key(llm: LlmSettings) -> MissingModelKey | None:
    """Why the main model's key cannot be used; None if it is there, or none is needed.

    The system's keyring is not looked at, as it may ask the person for a password.
    """
    try:
        found = named_model(llm)
    except ConfigError:
        return None
    if found is None or found.server.key.reference.startswith("keyring:"):
        return None
    try:
        key_of(found.server)
    except UserError as error:
        return MissingModelKey(error.message, f"{found.server.section}.api_key")
    return None


def key_of(place: Endpoint | Server) -> str:
    """The server's key, empty when it needs none; raises `MissingKey`, or `ConfigError` for an invalid key."""
    if not place.key.reference:
        return ""
    try:
        key = reveal(place.key).strip()
    except MissingKey as error:
        hint = "{advice}; or vault-agent config set {at}.api_key --prompt takes a key without showing it"
        raise MissingKey(error.message, hint=Sentence(hint, advice=error.hint, at=place.section)) from error
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the secret at {section}.api_key ({key}) holds characters that no key has",
            hint="copy the key again: one word of letters, digits and signs",
            section=place.section,
            key=place.key,
        )
    return key
