"""A `Provider` that asks a program on this machine: one process for each call, in a folder of its own that is empty and
removed after it.

The program tries again by itself, so a call is tried once here, and counts once. Nothing is known of what a
subscription costs: the limits of calls and tokens hold, those of money do not.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from agent.clock import Clock
from agent.llm.answer_text import Attempt, IncomingText, Unmetered
from agent.llm.endpoint import Endpoint
from agent.llm.known_models import ModelMemory
from agent.llm.messages import Cancelled, Model, OnText, Reply, Request, Usage, ignore, mapping, never, parsed
from agent.llm.program.claude_code import ClaudeCode
from agent.llm.program.client import Heard, ModelProgram, failure_of, find_program
from agent.llm.program.codex import Codex
from agent.llm.program.gemini_cli import GeminiCli
from agent.llm.program.process import Ending, Invocation, output_lines, output_of
from agent.llm.program.prompt import conversation, instructions
from agent.llm.retry import Jitter, OnRetry, ignore_retry
from agent.llm.stream_assembly import StreamAssembly
from agent.llm.turns import counted_texts, taken_ids

DEFAULT = "default"
"""The name of the model that the program itself chooses."""
_PROGRAMS: dict[str, ModelProgram] = {each.name: each for each in (ClaudeCode(), Codex(), GeminiCli())}


class ProgramModel:
    """A model behind a program; the host of the endpoint's address is the program's name."""

    def __init__(
        self,
        endpoint: Endpoint,
        clock: Clock,
        count: Callable[[str], int],
        jitter: Jitter,
        on_retry: OnRetry = ignore_retry,
        memory: ModelMemory | None = None,
    ) -> None:
        self._endpoint, self._clock, self._count = endpoint, clock, count
        self._client = _PROGRAMS[urlsplit(endpoint.base_url).netloc]

    @property
    def model(self) -> Model:
        return self._endpoint.model

    @property
    def url(self) -> str:
        """The address `program://NAME`."""
        return self._endpoint.base_url

    def check(self) -> None:
        """Look, without asking for an answer, whether the program can be used: raises `ConfigError` if it is not there,
        and `Permanent` where it is not signed in or cannot be made a plain model."""
        program = find_program(self._client)
        with _folder() as folder:
            started = self._client.start(program, folder, "", "", self._clock)
            probe = Invocation([program, *self._client.probe], started.environ, folder)
            code, output = output_of(probe, self._clock)
            if code:
                raise failure_of(self._client, output)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """The reply; see `Provider.chat`."""
        program, mark = find_program(self._client), self._clock.new_id()
        name = "" if self.model.name == DEFAULT else self.model.name
        with _folder() as folder, Unmetered(self._count).attempt(request) as attempt:
            (folder / "instructions.md").write_text(instructions(request, mark), "utf-8")
            run = self._client.start(program, folder, name, self._endpoint.effort, self._clock)
            gathered = StreamAssembly(on_text, attempt, answer=IncomingText(with_tools=bool(request.tools)))
            heard = self._run(run, conversation(request, mark), gathered, cancelled)
            return self._reply(request, gathered, heard, attempt)

    def _run(self, run: Invocation, prompt: str, gathered: StreamAssembly, cancelled: Cancelled) -> Heard:
        heard, ending = Heard(), Ending()
        with output_lines(run, prompt, self._clock, self._endpoint.timeout, cancelled, ending) as lines:
            for line in lines:
                try:
                    event = mapping(parsed(line))
                except ValueError:
                    continue  # a remark between the events
                self._client.take(event, heard)
                for piece in heard.new:
                    gathered.say(piece)
                heard.new.clear()
                if heard.is_over or gathered.cut_off():
                    break
        if heard.failure:
            raise failure_of(self._client, heard.failure)
        if not heard.is_over and gathered.stop != "length":
            raise failure_of(self._client, ending.errors)
        return heard

    def _reply(self, request: Request, gathered: StreamAssembly, heard: Heard, attempt: Attempt) -> Reply:
        gathered.stop = "length" if heard.is_cut else gathered.stop or "end"
        attempt.reported, attempt.final = heard.usage, heard.usage is not None
        names = frozenset(tool.name for tool in request.tools)
        message, stop = gathered.finish(
            taken_ids(request.messages), self._clock.new_id, names, may_call=request.may_call
        )
        input = sum(map(self._count, counted_texts(request.messages)))
        return Reply(message, attempt.used(Usage(input, request.max_output)), stop, heard.model or self.model.name)


@contextmanager
def _folder() -> Iterator[Path]:
    """A private folder with the empty one in which a program works."""
    with TemporaryDirectory(prefix="vault-agent-", ignore_cleanup_errors=True) as made:
        (Path(made) / "work").mkdir()
        yield Path(made)
