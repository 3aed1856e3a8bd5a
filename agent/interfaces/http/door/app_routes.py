"""The routes that an app's own token opens: to talk with the agent, to answer it, to see and take back its changes.

All others stay shut for it: notes and files, settings, jobs, skills, the profile, who is signed in, and every page.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

APP_ROUTES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "GET": (
            "/api/v1/health",
            "/api/v1/needs",
            "/api/v1/runs/{id}",
            "/api/v1/runs/{id}/events",
            "/api/v1/approvals/{name:path}",
            "/api/v1/recall",
            "/api/v1/log",
        ),
        "POST": (
            "/api/v1/runs",
            "/api/v1/runs/{id}/cancel",
            "/api/v1/runs/{id}/answer",
            "/api/v1/approvals/{name:path}",
            "/api/v1/questions/{name:path}",
            "/api/v1/inbox",
            "/api/v1/undo",
        ),
        "DELETE": ("/pair",),
    }
)
"""By method, the paths of operations as the table of the API has them, and that by which an app signs itself out."""
_PART = re.compile(r"\{\w+(:path)?\}")


def _pattern(path: str) -> str:
    """A path of the table as a regular expression; `{id}` is one part of a path, `{name:path}` any number of them."""
    return _PART.sub(lambda found: ".+" if found[1] else "[^/]+", re.sub(r"[.\-]", r"\\\g<0>", path))


_OPEN = {method: re.compile("|".join(map(_pattern, paths)), re.DOTALL) for method, paths in APP_ROUTES.items()}


def is_open_to_apps(method: str, path: str) -> bool:
    """True if an app may send this request."""
    found = _OPEN.get(method)
    return found is not None and found.fullmatch(path) is not None
