"""One question of a run to its model: a request that is too long is made smaller, an answer that is cut off goes on."""

from collections.abc import Callable
from dataclasses import field, replace

from agent.context.budget import Window
from agent.context.prompt import VaultReader, fill
from agent.dataclass import dataclass
from agent.errors import Interrupted
from agent.llm.messages import Assistant, Cancelled, OnText, Provider, Reply, Request, ToolResult
from agent.loop.agent import Agent
from agent.loop.continuing import whole_reply
from agent.loop.records import Spoken
from agent.loop.session import Session
from agent.loop.smaller import reply_within_window


@dataclass(slots=True)
class ModelCall:
    """A question in a session. `cancelled`: the answer is no longer wanted; `by_person`: since the person stopped the
    run, not since its time is over. `heard` is the text that has arrived."""

    agent: Agent
    session: Session
    on_text: OnText
    cancelled: Cancelled
    by_person: Cancelled
    read: VaultReader
    heard: list[str] = field(default_factory=list)

    def reply(self, model: Provider, request: Request, window: Callable[[], Window]) -> Reply:
        """The model's reply; if the time of the run ends meanwhile, the session keeps the part that arrived."""

        def chat(request: Request, on_text: OnText) -> Reply:
            return model.chat(request, on_text, self.cancelled)

        def ask(request: Request) -> Reply:
            return whole_reply(chat, request, self._hear, lambda: fill("continue", self.read))

        try:
            reply, sent = reply_within_window(ask, request, window, self.agent.count)
        except Interrupted:
            if self.heard and not self.by_person():
                self.session.add(Spoken(Assistant("".join(self.heard))))
            raise
        if sent is not request:
            self._shorten_history(sent)
        return reply

    def _hear(self, text: str) -> None:
        self.heard.append(text)
        self.on_text(text)

    def _shorten_history(self, sent: Request) -> None:
        """Put the shortened results into the session, so that the next request is as small; its note has the whole."""
        short = {each.call: each.text for each in sent.messages if isinstance(each, ToolResult)}
        for at, record in enumerate(self.session.records):
            match record.event:
                case Spoken(ToolResult(call, _, text) as result) if short.get(call, text) != text:
                    cut = replace(record.event, message=replace(result, text=short[call]))
                    self.session.records[at] = replace(record, event=cut)
