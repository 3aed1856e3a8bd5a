"""The client of a node host's contract (`agent/interfaces/node/README.md`): requests, and answers as values.

What a host says is text of another program: it is cut here, and marked as untrusted by whoever shows it.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.json_value import parse_json
from agent.lazy import later
from agent.llm.messages import JsonObject
from agent.tools.arguments import plain

if TYPE_CHECKING:
    import httpx

    from agent.llm.exchange import certificates
else:
    certificates = later("agent.llm.exchange", "certificates")

API = 1
"""The oldest version of the contract that is understood."""
PERMISSIONS = ("screen_recording", "microphone", "accessibility", "full_disk_access")
LOOK_SECONDS = 2.0
"""The longest wait for what a host answers at once: its tools, its permissions."""
_MOST_BYTES = 2 << 20
_MOST_TOOLS = 32
_MOST_WORDS = 600
_MOST_SCHEMA = 8_000


class NodeAway(Exception):
    """No host answers at the address; the connection was refused or broken."""


class NodeSlow(Exception):
    """A host that was there does not answer in time."""


class NodeTooOld(Exception):
    """The host keeps an older contract."""


class NodeRefused(Exception):
    """The host does not accept the token."""


class NodeOpen(Exception):
    """The host is on another machine, and the connection to it is not encrypted."""


@dataclass(frozen=True, slots=True)
class NodeListing:
    """A tool as the host lists it."""

    name: str
    description: str
    schema: str
    permission: str = ""

    @property
    def parameters(self) -> JsonObject:
        """The JSON schema of its arguments."""
        found: JsonObject = parse_json(self.schema)
        return found


@dataclass(frozen=True, slots=True)
class NodePermissions:
    """The states of the host's permissions by name, and what the host says helps."""

    states: Mapping[str, str] = field(default_factory=dict)
    guidance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeReply:
    """The answer to a call: `output` with the paths of `files`, or a failure with its `code`, `detail` and `hint`."""

    output: str = ""
    code: str = ""
    detail: str = ""
    hint: str = ""
    permission: str = ""


@dataclass(slots=True)
class NodeClient:
    """A host at an address; `token` gives its token each time, since the host makes it at its first start."""

    base_url: str
    token: Callable[[], str]
    _client: "httpx.Client | None" = None

    def check_version(self) -> None:
        """Raise `NodeTooOld` if the host keeps an older contract than `API`."""
        status, found = self._ask("GET", "/api/v1/version", LOOK_SECONDS)
        api = found.get("api")
        if status != 200 or not isinstance(api, int) or api < API:
            raise NodeTooOld

    def tools(self) -> tuple[NodeListing, ...]:
        """The tools that the host has and can use now; what is no plain tool is left out."""
        status, found = self._ask("GET", "/api/v1/tools", LOOK_SECONDS)
        rows = found.get("tools")
        if status != 200 or not isinstance(rows, list):
            raise NodeTooOld
        return tuple(listed for row in rows[:_MOST_TOOLS] if (listed := _listed(row)) is not None)

    def permissions(self) -> NodePermissions:
        """The permissions of the host's machine."""
        _, found = self._ask("GET", "/api/v1/permissions", LOOK_SECONDS)
        guidance = found.get("guidance")
        words = guidance if isinstance(guidance, dict) else {}
        return NodePermissions(
            {name: str(found[name]) for name in PERMISSIONS if name in found},
            {name: str(words[name])[:_MOST_WORDS] for name in PERMISSIONS if name in words},
        )

    def execute(self, tool: str, call: str, arguments: JsonObject, seconds: float) -> NodeReply:
        """Have a tool called; the same `call` is carried out once by the host, however often it is sent."""
        body = {"call_id": call, "arguments": plain(arguments)}
        status, found = self._ask("POST", f"/api/v1/tools/{tool}/execute", seconds, body)
        if status == 200:
            return NodeReply(_output(found))
        parts = [str(found.get(name) or "") for name in ("code", "detail", "hint", "permission")]
        code, detail, hint, permission = (each[:1_500] for each in parts)
        return NodeReply("", code or str(status), detail, hint, permission if permission in PERMISSIONS else "")

    def _ask(self, method: str, path: str, seconds: float, body: object = None) -> tuple[int, Mapping[str, object]]:
        """The status and the document of an answer; an empty one if it is no JSON object."""
        import httpx

        if self._client is None:
            trust = certificates(environment=False)
            fresh = httpx.Limits(max_keepalive_connections=0)  # a host that was started anew has dropped the old ones
            self._client = httpx.Client(verify=trust, trust_env=False, follow_redirects=False, limits=fresh)
        wait = httpx.Timeout(seconds, connect=LOOK_SECONDS)
        headers = {"Authorization": f"Bearer {self.token()}"}
        address = self.base_url.rstrip("/") + path
        try:
            with self._client.stream(method, address, headers=headers, json=body, timeout=wait) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > _MOST_BYTES:
                        break
        except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
            raise NodeSlow from error
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise NodeAway from error
        if response.status_code in {401, 403} and method == "GET":
            raise NodeRefused
        with suppress(ValueError, RecursionError):
            found = parse_json(bytes(data))
            if isinstance(found, dict):
                return response.status_code, found
        return response.status_code, {}


def _listed(row: object) -> NodeListing | None:
    if not isinstance(row, dict) or row.get("available") is False:
        return None
    name, schema = row.get("name"), row.get("parameters")
    if not isinstance(name, str) or not isinstance(schema, dict) or schema.get("type") != "object":
        return None
    words, permission = str(row.get("description") or name), row.get("permission")
    written = json.dumps(schema, sort_keys=True)
    if len(written) > _MOST_SCHEMA:
        return None
    known = permission if isinstance(permission, str) and permission in PERMISSIONS else ""
    return NodeListing(name, " ".join(words.split())[:_MOST_WORDS], written, known)


def _output(found: Mapping[str, object]) -> str:
    output, files = found.get("output"), found.get("files")
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
    rows = [each for each in files if isinstance(each, dict)] if isinstance(files, list) else []
    paths = [str(each.get("path") or "") for each in rows]
    return "\n".join([text, *(path for path in paths if path and path not in text)])
