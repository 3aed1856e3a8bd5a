"""What a model has thought is told to who watches the run, where its server hands it on in words; no note has it."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from agent.events.runs import ModelThought
from agent.llm.messages import Cancelled, JsonObject, Model, OnText, Reply, Request, ignore, never
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from tests.loop.stage import Stage, note

LOOK = ScriptedReply("", (ScriptedCall("vault_list", {}),))


@dataclass
class Thinking:
    """A model that has thought before each answer."""

    kept: JsonObject
    inner: Scripted = field(default_factory=lambda: Scripted([LOOK, ScriptedReply("Done.")]))

    @property
    def model(self) -> Model:
        return self.inner.model

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        reply = self.inner.chat(request, on_text, cancelled)
        return replace(reply, message=replace(reply.message, thinking=(self.kept,)))


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ({"type": "thinking", "thinking": "Look first.", "signature": "x"}, "Look first."),
        ({"type": "field", "name": "reasoning_content", "value": "Look first."}, "Look first."),
        ({"type": "reasoning", "summary": [{"text": "Look"}, {"text": "first."}]}, "Look\n\nfirst."),
        ({"type": "redacted_thinking", "data": "abc"}, ""),
    ],
)
def test_words_of_each_wire_are_told(tmp_path: Path, kept: JsonObject, told: str) -> None:
    here, heard = Stage(tmp_path, Thinking(kept)), list[ModelThought]()
    here.bus.subscribe(heard.append, ModelThought, name="ear")
    ended = here.ask("Look around")
    assert [each.text for each in heard] == ([told, told] if told else [])
    assert "Look first." not in note(here.vault, ended.session)
