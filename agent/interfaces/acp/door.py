"""The agent as an editor sees it: its conversations, turns, and requests for a yes."""

import asyncio
from asyncio import to_thread
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast

from acp import RequestError, run_agent, schema, text_block, tool_content
from acp.interfaces import Agent, Client

from agent.errors import AgentError, LockHeld, UserError
from agent.interfaces.acp import messages
from agent.interfaces.acp.greeting import about
from agent.interfaces.acp.messages import Block, Update
from agent.interfaces.acp.talks import Mode, OpenTalk
from agent.lazy import later
from agent.texts import text, translated
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.asking.proposal import Proposal
    from agent.interfaces.acp.talks import OpenTalks, open_talks
    from agent.loop.outcome import Ended
else:
    open_talks = later("agent.interfaces.acp.talks", "open_talks")

SlashCommand: TypeAlias = Callable[["OpenTalks", OpenTalk, str], str]
"""Makes the text to show of the words behind a command that begins with a slash."""
SlashCommands: TypeAlias = Mapping[str, SlashCommand]
"""The commands by name, such as `/undo`."""
_LISTED = 50
"""The conversations that are listed at once."""
_LOOK = 0.5
"""Seconds between two looks at a question that waits: it may be answered elsewhere."""
_MODEL = "model"
"""The id of the choice of a model."""
Options: TypeAlias = list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]
_MODES: tuple[Mode, ...] = ("write", "ask")
_PATIENCE = 60.0
"""Seconds that an editor may take for one update."""
_LATE = 0.05
"""Seconds after which the commands are told: an editor knows a conversation only once it has the answer."""
_STOPS: Mapping[str, schema.StopReason] = {"limit": "max_turn_requests", "interrupted": "cancelled"}
"""Why a turn ends, by the word of `loop.outcome`."""


class EditorDoor:
    """The agent of one vault for one editor. `open_runs` opens it when the first conversation needs it: an editor asks
    who we are before, and does not wait long for the answer."""

    def __init__(self, root: Path, open_runs: "Callable[[], OpenTalks]", commands: Callable[[], SlashCommands]) -> None:
        self._root = root
        self._open_runs = open_runs
        self._commands_of = commands
        self._commands: SlashCommands = {}
        self._opening: asyncio.Task[OpenTalks] | None = None
        self._known: dict[str, OpenTalk] = {}
        self._client: Client | None = None

    def stop(self) -> None:
        """Stop what still runs: the editor is gone."""
        for each in self._known.values():
            each.stop.set()

    def on_connect(self, conn: Client) -> None:
        """Keep the editor's side of the connection."""
        self._client = conn

    async def initialize(self, protocol_version: int, *unused: Any, **also: Any) -> schema.InitializeResponse:
        """Who we are, and what we can do."""
        return schema.InitializeResponse.model_validate(about(protocol_version))

    async def new_session(self, cwd: str, *unused: Any, **also: Any) -> schema.NewSessionResponse:
        """A new conversation; its note is made with the first task."""
        runs = await self._runs()
        conversation = self._keep(runs.workspace.clock.new_id(), "")
        return schema.NewSessionResponse(session_id=conversation.id, **self._state(runs, conversation))

    async def load_session(self, cwd: str, session_id: str, *unused: Any, **also: Any) -> schema.LoadSessionResponse:
        """Go on in an earlier conversation, of any door; what was said in it is shown again."""
        runs, conversation = await self._taken_up(session_id)
        history = await to_thread(runs.history, conversation.path) if conversation.path else ()
        for update in messages.replayed(history):
            await self._show(session_id, update)
        return schema.LoadSessionResponse(**self._state(runs, conversation))

    async def resume_session(
        self, session_id: str, cwd: str, *unused: Any, **also: Any
    ) -> schema.ResumeSessionResponse:
        """Go on in an earlier conversation without showing it."""
        runs, conversation = await self._taken_up(session_id)
        return schema.ResumeSessionResponse(**self._state(runs, conversation))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **also: Any
    ) -> schema.ListSessionsResponse:
        """The newest conversations, of all doors."""
        runs = await self._runs()
        found = await to_thread(runs.listed, _LISTED)
        return schema.ListSessionsResponse(
            sessions=[
                schema.SessionInfo(session_id=each.id, cwd=str(self._root), title=each.title, updated_at=each.last)
                for each in found
            ]
        )

    async def close_session(self, session_id: str, **also: Any) -> schema.CloseSessionResponse:
        """End a conversation here: a run in it is stopped, and its note stays."""
        found = self._known.pop(session_id, None)
        if found is not None:
            found.stop.set()
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **also: Any) -> schema.SetSessionModeResponse:
        """Choose whether what is asked for from now on may change notes."""
        mode = next((each for each in _MODES if each == mode_id), None)
        if mode is None:
            raise RequestError.invalid_params({"reason": f"the modes are {', '.join(_MODES)}"})
        self._of(session_id).mode = mode
        await self._show(
            session_id, schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=mode)
        )
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **also: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Choose the model for what is asked for from now on."""
        runs, conversation = await self._runs(), self._of(session_id)
        kind = next((each for each in runs.models if each == value), None)
        if config_id != _MODEL or kind is None:
            raise RequestError.invalid_params({"reason": f"{_MODEL} is one of {', '.join(runs.models)}"})
        conversation.model = kind
        return schema.SetSessionConfigOptionResponse(config_options=_options(runs, conversation))

    async def cancel(self, session_id: str, **also: Any) -> None:
        """Stop the run of a conversation; what it has changed stays, and can be undone."""
        if session_id in self._known:
            self._known[session_id].stop.set()

    async def prompt(self, session_id: str, prompt: list[Block], *unused: Any, **also: Any) -> schema.PromptResponse:
        """Do what a message asks for; a yes that it needs is asked for in the editor."""
        runs, conversation = await self._runs(), self._of(session_id)
        conversation.stop.clear()
        try:
            asked = messages.asked_of(prompt, self._root)
            name, _, rest = asked.task.partition(" ")
            if name in self._commands:
                reply = await to_thread(self._commands[name], runs, conversation, rest.strip())
                await self._show(session_id, messages.agent_text(reply))
                return schema.PromptResponse(stop_reason="end_turn")
            ended = await to_thread(runs.ask, conversation, asked)
            while ended.outcome.waits:
                going_on = await self._go_on(runs, conversation, ended)
                if going_on is None:
                    return schema.PromptResponse(stop_reason="cancelled" if conversation.stop.is_set() else "end_turn")
                ended = going_on
        except AgentError as error:
            await self._say_error(runs, session_id, error)
            return schema.PromptResponse(stop_reason="end_turn")
        await self._show_rest(runs, conversation, ended)
        used = await to_thread(runs.usage, ended)
        return schema.PromptResponse(
            stop_reason=_STOPS.get(ended.outcome.value, "end_turn"),
            usage=schema.Usage(
                total_tokens=used.input + used.output,
                input_tokens=used.input,
                output_tokens=used.output,
                cached_read_tokens=used.cached,
            ),
        )

    async def _go_on(self, runs: "OpenTalks", conversation: OpenTalk, ended: "Ended") -> "Ended | None":
        """The result of a run once what it waits for is decided; None while it is not."""
        if ended.outcome.value == "question_asked":
            conversation.question = ended.waits_for
            question = await to_thread(runs.open_question, conversation)
            if question is not None:
                words = "\n".join(["", "", question.text, *question.numbered])
                await self._show(conversation.id, messages.agent_text(words))
            return None
        decided: dict[str, bool] = {}
        for asked in await to_thread(runs.asked, ended.waits_for):
            if not await to_thread(runs.is_open, asked.path):
                continue
            answer = await self._answer(runs, conversation, ended, asked)
            if conversation.stop.is_set():
                return None
            if answer is not None:
                decided[asked.id] = answer
            elif await to_thread(runs.is_open, asked.path):
                return None
        try:
            return await to_thread(runs.go_on, conversation, decided)
        except (LockHeld, UserError) as error:  # decided elsewhere, and a daemon goes on with it
            await self._say_error(runs, conversation.id, error)
            return None

    async def _answer(
        self, runs: "OpenTalks", conversation: OpenTalk, ended: "Ended", asked: "Proposal"
    ) -> bool | None:
        """What the person says to one question; None if they say nothing here."""
        drafts = await to_thread(runs.drafts, ended.session, asked.call)
        about = [tool_content(text_block("\n\n".join(filter(None, (asked.question, asked.why)))))]
        content = messages.differences(drafts, self._root) or [tool_content(text_block(asked.shown))]
        call = schema.ToolCallUpdate(
            tool_call_id=asked.call or asked.id, title=asked.question, status="pending", content=[*about, *content]
        )
        request = asyncio.ensure_future(
            self._editor.request_permission(
                session_id=conversation.id, tool_call=call, options=messages.options(runs.language)
            )
        )
        while not request.done():
            await asyncio.wait({request}, timeout=_LOOK)
            if conversation.stop.is_set() or not (request.done() or await to_thread(runs.is_open, asked.path)):
                request.cancel()
                return None
        with suppress(RequestError):
            outcome = request.result().outcome
            return outcome.option_id == messages.YES if isinstance(outcome, schema.AllowedOutcome) else None
        return None

    async def _show_rest(self, runs: "OpenTalks", conversation: OpenTalk, ended: "Ended") -> None:
        """Show an answer that did not come in pieces, and what else there is to know."""
        parts = [] if conversation.has_streamed or not ended.answer.strip() else [ended.answer]
        lines = [*parts, *(await to_thread(list, runs.what_came(ended)))]
        if lines:
            words = "\n\n".join(filter(None, lines))
            await self._show(conversation.id, messages.agent_text(words if parts else f"\n\n{words}"))

    async def _say_error(self, runs: "OpenTalks", session_id: str, error: AgentError) -> None:
        language = runs.language
        lines = [translated(error.message, language), translated(error.hint, language) if error.hint else ""]
        await self._show(session_id, messages.agent_text("\n\n".join(filter(None, lines))))

    @property
    def _editor(self) -> Client:
        if self._client is None:
            raise RuntimeError("no editor is connected")
        return self._client

    async def _show(self, session_id: str, update: Update) -> None:
        await self._editor.session_update(session_id=session_id, update=update)

    def _open(self) -> "OpenTalks":
        self._commands = self._commands_of()
        return self._open_runs()

    async def _runs(self) -> "OpenTalks":
        """The runs of the vault, opened once."""
        if self._opening is None:
            self._opening = asyncio.create_task(asyncio.to_thread(self._open))
        try:
            return await self._opening
        except AgentError as error:
            self._opening = None
            raise RequestError(-32603, str(error), {"hint": str(error.hint)}) from error

    async def _taken_up(self, id: str) -> "tuple[OpenTalks, OpenTalk]":
        """The earlier conversation with this id."""
        runs = await self._runs()
        if id not in self._known:
            try:
                path = await to_thread(runs.find, id)
            except UserError as error:
                raise RequestError.resource_not_found(id) from error
            self._keep(id, path)
        return runs, self._known[id]

    def _of(self, id: str) -> OpenTalk:
        if id not in self._known:
            raise RequestError.resource_not_found(id)
        return self._known[id]

    def _keep(self, id: str, path: str) -> OpenTalk:
        """A conversation that is open from now on; its updates come from threads, each after the one before."""
        loop = asyncio.get_running_loop()

        def show(update: Update) -> None:
            try:
                asyncio.run_coroutine_threadsafe(self._show(id, update), loop).result(_PATIENCE)
            except Exception:  # noqa: BLE001  # the editor is gone, whatever the connection says of it
                opened.stop.set()

        opened = self._known[id] = OpenTalk(id, show, path)
        loop.call_later(_LATE, lambda: asyncio.ensure_future(self._tell_commands(id)))
        return opened

    async def _tell_commands(self, id: str) -> None:
        runs = await self._runs()
        hint = schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint="…"))
        found = [
            schema.AvailableCommand(name=name, description=text(f"acp.{name}", runs.language), input=hint)
            for name in (each.removeprefix("/") for each in self._commands)
        ]
        update = schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=found)
        await self._show(id, update)

    def _state(self, runs: "OpenTalks", conversation: OpenTalk) -> "_State":
        """What a person can choose for a conversation."""
        language = runs.language
        modes = schema.SessionModeState(
            current_mode_id=conversation.mode,
            available_modes=[
                schema.SessionMode(
                    id=each, name=text(f"acp.mode_{each}", language), description=text(f"acp.about_{each}", language)
                )
                for each in _MODES
            ],
        )
        return {"modes": modes, "config_options": _options(runs, conversation) or None}


class _State(TypedDict):
    modes: schema.SessionModeState
    config_options: Options | None


def _options(runs: "OpenTalks", conversation: OpenTalk) -> Options:
    """The choice of the model, if there are several."""
    try:
        names = runs.models
    except AgentError:  # the first task says what is missing
        return []
    if len(names) < 2:
        return []
    choices = [schema.SessionConfigSelectOption(value=kind, name=name) for kind, name in names.items()]
    return [
        schema.SessionConfigOptionSelect(
            type="select",
            id=_MODEL,
            category="model",
            name=text("acp.model", runs.language),
            current_value=conversation.model,
            options=choices,
        )
    ]


def serve(workspace: Workspace, commands: Callable[[], SlashCommands]) -> None:
    """Serve the editor that has started this process; returns once what was said is written into memory."""
    with ExitStack() as parts:
        door = EditorDoor(workspace.vault.place.root, lambda: open_talks(workspace, parts), commands)
        asyncio.run(_serve(door))


async def _serve(door: EditorDoor) -> None:
    try:
        await run_agent(cast(Agent, door), use_unstable_protocol=True)
    finally:
        door.stop()
