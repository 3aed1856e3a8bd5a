"""The settings of the node host: what it offers on this machine, and how the agent reaches it. Part of
`settings.Settings`.

None of them may stand in a vault's own file: they name an address, folders and programs.

The token that the node host wants of each request: made by the host, and read by the agent.

It lies in a file that only its owner may read, or in the system's keyring.
"""

import secrets
from importlib import import_module
from pathlib import Path
from typing import Annotated

from agent.config.directories import Directories
from agent.config.private import make_folder, replace
from agent.config.secrets import SERVICE, from_keyring, load_key
from agent.config.values import Form, Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NodeToolSettings:
    """The tools of the node host. One that is off is neither offered by the host nor known to the agent."""

    system_run: bool
    """Run a command of the shell. Default true: nothing runs without a yes to each call."""

    screen_capture: bool
    """Take a picture of the screen. Default true."""

    audio_record: bool
    """Record from the microphone. Default true."""

    ui_automation: bool
    """Type, press keys, move and click. Default true."""

    fs_read: bool
    """Read files in `node.folders`. Default true: without a folder, nothing can be read."""

    fs_write: bool
    """Write files in `node.folders`. Default true: without a folder, nothing can be written."""

    open_app: bool
    """Open an application, a file or a page. Default true."""

    clipboard: bool
    """Read and set the clipboard. Default true."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """The node host, which works on the desktop of a machine."""

    enabled: bool
    """True to give the agent the tools of the node host while it runs. Default false."""

    base_url: Annotated[str, Form(r"https?://[^\s/?#@]+/?", "an address such as http://127.0.0.1:19820")]
    """The address of the host. Default `http://127.0.0.1:19820`, this machine."""

    token_file: str
    """The file with the token that the host wants of each request, or `keyring:NAME`. The host makes the token at its
    first start. Default empty: `keys/node` beside the settings file, readable by its owner only."""

    timeout_seconds: Annotated[float, Range(1, 600, "seconds")]
    """The longest wait for an answer of the host, on top of the seconds that a call itself asks for. Default 30."""

    reconnect_seconds: Annotated[float, Range(1, 86_400, "seconds")]
    """The time between two looks for a host that is away, in seconds. Default 60."""

    folders: str
    """The folders in which `fs_read` and `fs_write` may work, with `:` between them, such as `~/Documents:~/Music`.
    Default empty: none."""

    dashboard: Annotated[str, Form(r"|https?://[^\s@]+", "an address such as http://127.0.0.1:19820")]
    """The page that the icon's key and its row "Ask" open. Default empty: the one of this machine's dashboard, at
    `http.port`, while `vault-agent serve` runs."""

    hotkey: Annotated[str, Form(r"|[A-Za-z0-9_]+(?:\+[A-Za-z0-9_]+)*", "keys such as ctrl+alt+space")]
    """The keys that open that page while the icon is there, under X. Default `ctrl+alt+space`; empty: none."""

    tools: NodeToolSettings
    """The switches of the tools. Default: all on."""


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
