"""The desktop session that the host works in: a Mac's, one of Wayland, one of X, or none."""

import os
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal, TypeAlias

from agent.interfaces.node.failure import NodeFailure
from agent.interfaces.node.tool import is_mac

Kind: TypeAlias = Literal["mac", "wayland", "x", "none"]


def session_kind(environ: Mapping[str, str] = os.environ) -> Kind:
    """The kind of this session."""
    if is_mac():
        return "mac"
    if environ.get("WAYLAND_DISPLAY"):
        return "wayland"
    return "x" if environ.get("DISPLAY") else "none"


def need_screen(permission: str) -> Kind:
    """The kind of this session; raises `NodeFailure` if it has no screen."""
    kind = session_kind()
    if kind == "none":
        raise NodeFailure(
            HTTPStatus.FORBIDDEN,
            "permission_denied",
            "this session has no screen: neither DISPLAY nor WAYLAND_DISPLAY is set",
            "start vault-agent node in a terminal of the desktop",
            permission,
        )
    return kind
