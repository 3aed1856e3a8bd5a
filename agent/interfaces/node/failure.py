"""The one error of the node host: what went wrong in a request, for the program that sent it."""

from http import HTTPStatus


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
        told = {"code": self.code, "detail": self.detail, "hint": self.hint, "permission": self.permission}
        return {"title": self.status.phrase, "status": int(self.status)} | {k: v for k, v in told.items() if v}


def bad_arguments(detail: str, hint: str = "") -> NodeFailure:
    """The failure of a call whose arguments do not fit."""
    return NodeFailure(HTTPStatus.UNPROCESSABLE_ENTITY, "bad_arguments", detail, hint)


def did_not_work(detail: str, hint: str = "") -> NodeFailure:
    """The failure of a program that ran and could not do its work."""
    return NodeFailure(HTTPStatus.BAD_GATEWAY, "tool_failed", detail, hint)
