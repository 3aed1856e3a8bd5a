"""How an optional part of the program is added where it is installed.

The name alone would ask a package registry, which need not have this program under it.
"""

import shlex
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent.json_value import parse_json

_NAME = "vault-agent"


def command_to_add(part: str) -> str:
    """The command that installs the program again with a part such as `mcp`: by the tool, and from the folder or
    address, that installed it."""
    what = shlex.quote(_with_part(part))
    place = Path(sys.prefix).parts
    if place[-3:-1] == ("uv", "tools"):
        return f"uv tool install --force {what}"
    if place[-3:-1] == ("pipx", "venvs"):
        return f"pipx install --force {what}"
    return f"{shlex.quote(sys.executable)} -m pip install {what}"


def _with_part(part: str) -> str:
    """The program with a part, as an installer is given it: its folder or address, or its name if neither is known."""
    name, metadata = f"{_NAME}[{part}]", import_module("importlib.metadata")  # slow to load, and hardly ever needed
    try:
        known = parse_json(metadata.distribution(_NAME).read_text("direct_url.json") or "{}")
    except (metadata.PackageNotFoundError, ValueError, OSError):
        return name
    url = str(known.get("url") or "")
    if url.startswith("file://"):
        return f"{unquote(urlsplit(url).path)}[{part}]"
    kind = (known.get("vcs_info") or {}).get("vcs")
    return f"{name} @ {kind}+{url}" if kind else f"{name} @ {url}" if url else name
