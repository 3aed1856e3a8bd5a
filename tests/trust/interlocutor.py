"""A model's server that plays one fixed conversation, goes wrong where it is told to, and writes down what really was.

It answers by what stands in the request, so that a call that is tried again gets the same answer. What it asked for and
what it was told of each call is the harness' ledger.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent.llm.messages import Json, JsonObject, mapping
from tests.llm.dialects import Spoken, Wanted
from tests.llm.servers import Part, Visit

FINAL = "All of it is written down now."
Trouble = Callable[[Visit, bytes], None]
"""Answers in its own way; the bytes are what a sound server would have said."""


_ENDS = (b'"finish_reason": "stop"', b'"stop_reason": "end_turn"')


@dataclass
class Line(Visit):
    """A connection that remembers what was sent."""

    sent: bytes = b""

    def send(self, data: bytes) -> None:
        self.sent += data
        Visit.send(self, data)


@dataclass(frozen=True, slots=True)
class Step:
    """The calls of one answer: name and arguments each."""

    calls: tuple[tuple[str, JsonObject], ...]


@dataclass
class Interlocutor:
    """The server's part. `troubles` by the number of the request, from 1; `meanwhile` happens before answer `n`."""

    wire: Spoken
    steps: Sequence[Step]
    troubles: dict[int, Trouble] = field(default_factory=dict)
    meanwhile: dict[int, Callable[[], None]] = field(default_factory=dict)
    endless: bool = False
    asked: int = 0
    told: dict[str, str] = field(default_factory=dict)
    finals: int = 0

    def part(self) -> Part:
        """What is played on every connection."""

        def play(visit: Visit) -> None:
            self.asked += 1
            messages = visit.asked.told.get("messages")
            rows = [mapping(each) for each in messages] if isinstance(messages, list) else []
            self._listen(rows)
            place = sum(row.get("role") == "assistant" for row in rows)
            happening = self.meanwhile.pop(place, None)
            if happening is not None:
                happening()
            sound = self._answer(place)
            line = Line(visit.connection, visit.asked, visit.closing)
            self.troubles.get(self.asked, soundly)(line, sound)
            self.finals += FINAL.encode() in line.sent and any(sign in line.sent for sign in _ENDS)

        return play

    def _listen(self, rows: Sequence[JsonObject]) -> None:
        for row in rows:
            if row.get("role") == "tool":
                self.told[str(row.get("tool_call_id"))] = str(row.get("content"))
            for block in row.get("content") if isinstance(row.get("content"), list) else ():  # type: ignore[union-attr]
                found = mapping(block)
                if found.get("type") == "tool_result":
                    self.told[str(found.get("tool_use_id"))] = _text(found.get("content"))

    def _answer(self, place: int) -> bytes:
        step = self.steps[place % len(self.steps)] if self.endless else None
        if place < len(self.steps):
            step = self.steps[place]
        if step is None:
            return self.wire.answer(FINAL)
        calls = [Wanted(f"call_{place}_{at}", name, (json.dumps(told),)) for at, (name, told) in enumerate(step.calls)]
        return self.wire.begin + self.wire.calls(calls) + self.wire.usage + self.wire.end("tools")


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(mapping(part).get("text", "")) for part in parts)


def soundly(visit: Visit, sound: bytes) -> None:
    """Answers as it should."""
    visit.head()
    visit.send(sound)


def status(code: str, body: str = "", **headers: str) -> Trouble:
    """Answers with a status."""

    def play(visit: Visit, sound: bytes) -> None:
        visit.head(code, "application/json", content_length=str(len(body.encode())), **headers)
        visit.send(body.encode())

    return play


def cut(share: float) -> Trouble:
    """Breaks off in the middle of the answer."""

    def play(visit: Visit, sound: bytes) -> None:
        visit.head(transfer_encoding="chunked")
        visit.chunk(sound[: int(len(sound) * share)])

    return play


def says(data: bytes) -> Trouble:
    """Says something else."""

    def play(visit: Visit, sound: bytes) -> None:
        visit.head()
        visit.send(data)

    return play


def changes(old: bytes, new: bytes) -> Trouble:
    """Says it a little differently."""

    def play(visit: Visit, sound: bytes) -> None:
        visit.head()
        visit.send(sound.replace(old, new))

    return play


def hangs_up(visit: Visit, sound: bytes) -> None:
    """Closes the connection without a word."""


def echoes(visit: Visit, sound: bytes) -> None:
    """Refuses, and says what key it was given, as some proxies do."""
    key = visit.asked.headers.get("authorization", "") + visit.asked.headers.get("x-api-key", "")
    body = json.dumps({"error": {"message": f"no such key: {key}", "header": key}})
    visit.head("401 Unauthorized", "application/json", content_length=str(len(body)))
    visit.send(body.encode())
