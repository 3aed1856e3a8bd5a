"""The token that the node host wants of each request: made by the host, and read by the agent.

It lies in a file that only its owner may read, or in the system's keyring.
"""

import secrets
from importlib import import_module
from pathlib import Path

from agent.config.directories import Directories
from agent.config.key_file import load_key
from agent.config.node_settings import NodeSettings
from agent.config.private import make_folder, replace
from agent.config.secrets import SERVICE, from_keyring

NAME = "node"
"""The file of the token in the folder of keys."""
_KEYRING = "keyring:"


def node_token_place(settings: NodeSettings, directories: Directories) -> str:
    """Where the token is: the path of its file, or `keyring:NAME`."""
    if settings.token_file.startswith(_KEYRING):
        return settings.token_file
    return str(Path(settings.token_file).expanduser().absolute() if settings.token_file else directories.keys / NAME)


def load_node_token(settings: NodeSettings, directories: Directories) -> str:
    """The token; empty if none was made yet. Raises `MissingKey` if others may read it, or the keyring is missing."""
    place = node_token_place(settings, directories)
    if place.startswith(_KEYRING):
        return from_keyring(place.removeprefix(_KEYRING)) or ""
    return load_key(Path(place))


def made_node_token(settings: NodeSettings, directories: Directories) -> str:
    """The token, made now if there is none; raises as `load_node_token` does."""
    known = load_node_token(settings, directories)
    if known:
        return known
    made, place = secrets.token_urlsafe(32), node_token_place(settings, directories)
    if place.startswith(_KEYRING):
        import_module("keyring").set_password(SERVICE, place.removeprefix(_KEYRING), made)
    else:
        make_folder(Path(place).parent)
        replace(Path(place), f"{made}\n")
    return made
