"""The desktop session that the node host works in: a Mac's, one of Wayland, one of X, or none; and the one error of the
host: what went wrong in a request, for the program that sent it.
"""

import os
from collections.abc import Mapping
from http import HTTPStatus
from typing import Literal, TypeAlias

from agent.platform.here import platform


class NodeFailure(Exception):
    """A request that was not carried out, or not to its end.

    `code` is a fixed word for programs, `detail` says what happened, `hint` what a person can do. `permission` is the
    one that is missing.
    """

    def __init__(self, status: HTTPStatus, code: str, detail: str, hint: str = "", permission: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
        self.permission = permission

    def document(self) -> dict[str, object]:
        """The failure as a problem document (RFC 9457)."""
        sentence = {"code": self.code, "detail": self.detail, "hint": self.hint, "permission": self.permission}
        return {"title": self.status.phrase, "status": int(self.status)} | {k: v for k, v in sentence.items() if v}


def bad_arguments(detail: str, hint: str = "") -> NodeFailure:
    """The failure of a call whose arguments do not fit."""
    return NodeFailure(HTTPStatus.UNPROCESSABLE_ENTITY, "bad_arguments", detail, hint)


def did_not_work(detail: str, hint: str = "") -> NodeFailure:
    """The failure of a program that ran and could not do its work."""
    return NodeFailure(HTTPStatus.BAD_GATEWAY, "tool_failed", detail, hint)


Kind: TypeAlias = Literal["mac", "wayland", "x", "none"]


def is_mac() -> bool:
    """True on macOS."""
    return platform().name == "macos"


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
