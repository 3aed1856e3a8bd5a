"""Each call of a tool once: a call's id is kept with its result, on disk, and a call that comes again gets that result.

A call is on record before it begins. If the host ended meanwhile, the same id gets a failure that says so: whether the
call had its effect is not known, and it is not done a second time. Records are deleted after `KEPT`. The log beside
them has one line for each request, for the person.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from threading import Condition

from agent.clock import Clock
from agent.config.durable import append, replace
from agent.config.private import clear_way, own_folder
from agent.dataclass import dataclass
from agent.interfaces.node.session import NodeFailure
from agent.json_value import parse_json
from agent.llm.messages import JsonObject
from agent.markdown.title import clipped
from agent.tools.arguments import canonical, plain

KEPT = timedelta(days=1)
_SHOWN = 500
_LOG_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class NodeResponse:
    """The answer to a call: the HTTP status and the JSON document."""

    status: int
    document: dict[str, object]


@dataclass(slots=True)
class CallLog:
    """The calls of the last day, in `folder`, and the log of requests."""

    folder: Path
    clock: Clock
    _busy: set[str] = field(default_factory=set)
    _turn: Condition = field(default_factory=Condition)

    @property
    def log_file(self) -> Path:
        """The log: one JSON object a line; the one before it has `.old` at its end."""
        return self.folder.parent / "requests.jsonl"

    def once(self, id: str, tool: str, arguments: JsonObject, perform: Callable[[], NodeResponse]) -> NodeResponse:
        """The answer to a call: a kept one, else that of `perform`; waits if the same call is being carried out.

        Raises `NodeFailure` if the id belongs to another call, or to one that was cut off.
        """
        key = sha256(id.encode("utf-8", "replace")).hexdigest()
        asked = sha256(f"{tool} {canonical(arguments)}".encode("utf-8", "replace")).hexdigest()
        with self._exclusive(key):
            path = self.folder / f"{key}.json"
            known = self._load(path)
            if known is not None:
                return self._stored_response(known, asked)
            self._forget_old()
            begun = {"asked": asked, "began": self.clock.now().isoformat()}
            replace(path, json.dumps(begun))
            answer = perform()
            replace(path, json.dumps({**begun, "status": answer.status, "document": answer.document}))
            return answer

    def log(self, tool: str, id: str, arguments: JsonObject, answer: NodeResponse, seconds: float) -> None:
        """Add a request to the log."""
        text = json.dumps(plain(arguments), ensure_ascii=False)
        row = {
            "time": self.clock.now().isoformat(timespec="seconds"),
            "tool": tool,
            "call_id": id,
            "arguments": clipped(text, _SHOWN),
            "status": answer.status,
            "problem": answer.document.get("detail", ""),
            "seconds": round(seconds, 3),
        }
        with self._turn:
            with suppress(FileNotFoundError):
                if self.log_file.stat().st_size > _LOG_BYTES:
                    self.log_file.replace(self.log_file.with_suffix(".jsonl.old"))
            append(self.log_file, json.dumps(row, ensure_ascii=False) + "\n")

    @contextmanager
    def _exclusive(self, key: str) -> Iterator[None]:
        """Wait until nobody else carries out the call with this key."""
        with self._turn:
            self._turn.wait_for(lambda: key not in self._busy)
            self._busy.add(key)
        try:
            yield
        finally:
            with self._turn:
                self._busy.discard(key)
                self._turn.notify_all()

    def _load(self, path: Path) -> dict[str, object] | None:
        try:
            found = parse_json(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (ValueError, OSError):
            found = None
        return found if isinstance(found, dict) else {}

    def _stored_response(self, known: dict[str, object], asked: str) -> NodeResponse:
        status, document = known.get("status"), known.get("document")
        if known and known.get("asked") != asked:
            raise NodeFailure(
                HTTPStatus.CONFLICT, "call_id_used", "this call_id belongs to another call", "give each call its own id"
            )
        if not isinstance(status, int) or not isinstance(document, dict):
            raise NodeFailure(
                HTTPStatus.CONFLICT,
                "call_cut_off",
                "the host ended while it carried out this call; whether it had its effect is not known",
                "look at what it did, then send it with a new call_id",
            )
        return NodeResponse(status, document)

    def _forget_old(self) -> None:
        own_folder(self.folder)
        oldest = (self.clock.now() - KEPT).timestamp()
        for each in self.folder.glob("*.json"):
            clear_way(each)
            with suppress(OSError):
                if each.stat().st_mtime < oldest:
                    each.unlink()
