"""The registry: whatever a model asks for and whatever a tool does, the answer is text and the run goes on."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.config.masking import KnownSecrets
from agent.errors import Interrupted, LimitReached, NeedsApproval, QuestionAsked, Retryable, ToolFailed, ToolRetry
from agent.llm.messages import JsonObject, ToolCall
from agent.tools.registry import ERROR_CHARACTERS, Registry
from agent.tools.tool import RunContext, Tool, ToolOutput
from tests.fakes import FakeClock
from tests.tools.house import FREE, House, house, tool_of

CONTEXT = RunContext("run-1", "sessions/s.md")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(
        ("path", "content", "lines", "old", "new", "text", "to", "query", "limit", "question", "task", "x")
    ),
    JSON,
    max_size=4,
)


def registry(*tools: Tool) -> Registry:
    """These tools, and nobody who has to say yes."""
    return Registry(tools, FREE, lambda tool, policies: tool, FakeClock())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> House:
    return house(tmp_path_factory.mktemp("house"), {"a.md": "one\ntwo\n", "folder/b.md": "---\nid: x\n---\nthree\n"})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=st.sampled_from(("vault_read", "vault_list", "vault_edit", "vault_move", "search_vault", "delegate", "no")),
       arguments=ARGUMENTS)  # fmt: skip
def test_no_arguments_make_it_raise(shared: House, tool: str, arguments: dict[str, object]) -> None:
    called = shared.registry.call(ToolCall("c", tool, arguments), shared.context)  # type: ignore[arg-type]
    assert called.result.text and (called.output is None) == called.result.failed
    called.result.text.encode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=st.sampled_from(("vault_write", "vault_append", "memory_save", "human_ask")), arguments=ARGUMENTS)
def test_no_arguments_make_a_writing_tool_raise(shared: House, tool: str, arguments: dict[str, object]) -> None:
    try:
        called = shared.registry.call(ToolCall("c", tool, arguments), shared.context)  # type: ignore[arg-type]
    except (QuestionAsked, NeedsApproval):
        return
    assert called.result.text


def test_an_unknown_tool_is_named_with_its_neighbours(tmp_path: Path) -> None:
    home = house(tmp_path)
    assert "vault_read" in home.fails("vault_reed", path="a")
    assert "search_vault" in home.fails("zzzz")


def test_arguments_that_could_not_be_read_reach_no_tool() -> None:
    done: list[JsonObject] = []

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        done.append(arguments)
        return ToolOutput("ok")

    called = registry(tool_of(perform)).call(ToolCall("c", "web_fetch", {}, "not JSON: line 1"), CONTEXT)
    assert called.result.failed and "not JSON: line 1" in called.result.text and not done


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "path is missing"),
        ({"path": 1}, "path must be of type string, not 1"),
        ({"path": "a", "why": 1, "z": 2}, 'unknown argument "why"; allowed: path, lines'),
        ({"path": ""}, "path must not be empty"),
        ({"path": "a", "lines": "x"}, "lines: 'x' does not match"),
        ({"path": "a\ud800"}, "path: the text holds half a character"),
    ],
)
def test_bad_arguments_are_told_one_line_each(shared: House, arguments: JsonObject, said: str) -> None:
    called = shared.registry.call(ToolCall("c", "vault_read", arguments), shared.context)
    assert called.result.failed and said in called.result.text
    assert called.result.text.startswith("vault_read was not called:\n")


def test_a_schema_that_forgets_to_close_itself_is_closed() -> None:
    called = registry(tool_of()).call(ToolCall("c", "web_fetch", {"uri": "x"}), CONTEXT)
    assert 'unknown argument "uri"; allowed: url' in called.result.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolRetry("give a path"), "give a path"),
        (ToolFailed("it is gone"), "it is gone"),
        (Retryable("busy", hint="try later"), "busy (try later)"),
        (ValueError("first\nsecond"), "web_fetch failed: ValueError: first"),
        (KeyError(), "web_fetch failed: KeyError: no reason given"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogate"), "UnicodeEncodeError"),
        (RecursionError("deep " * 2000), "left out"),
    ],
)
def test_whatever_a_tool_raises_is_text(error: Exception, said: str) -> None:
    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        raise error

    for timeout in (0, 5):
        called = registry(tool_of(perform, timeout=timeout)).call(ToolCall("c", "web_fetch", {}), CONTEXT)
        assert called.result.failed and said in called.result.text and called.output is None
        assert len(called.result.text) < 2200


@pytest.mark.parametrize("timeout", [0, 5])
def test_what_ends_a_run_on_purpose_passes_through(timeout: float) -> None:
    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        raise LimitReached("enough", limit="run.steps")

    with pytest.raises(LimitReached):
        registry(tool_of(perform, timeout=timeout)).call(ToolCall("c", "web_fetch", {}), CONTEXT)


def test_a_tool_that_hangs_is_left_behind_and_after_three_not_called_any_more() -> None:
    release = threading.Event()

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        release.wait(20)
        return ToolOutput("late")

    tools = registry(tool_of(perform, timeout=0.05))
    said = [tools.call(ToolCall("c", "web_fetch", {}), CONTEXT).result.text for _ in range(4)]
    release.set()
    assert all("took longer than 0.05 s and was given up" in text for text in said[:3])
    assert "3 earlier calls of web_fetch are still hanging" in said[3]


def test_a_person_who_cancels_does_not_wait_for_the_tool() -> None:
    release = threading.Event()

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        release.wait(20)
        return ToolOutput("late")

    tools = registry(tool_of(perform, timeout=20))
    with pytest.raises(Interrupted):
        tools.call(ToolCall("c", "web_fetch", {}), RunContext("r", "s", cancelled=lambda: True))
    release.set()


def test_a_long_result_is_cut_at_the_end_of_a_line_and_says_so() -> None:
    text = "\n".join(f"line {number}" for number in range(1000))
    tool = tool_of(lambda arguments, context: ToolOutput(text), limit=200)
    called = registry(tool).call(ToolCall("c", "web_fetch", {}), CONTEXT)
    kept, said = called.result.text.rsplit("\n", 1)
    assert text.startswith(kept + "\n") and len(kept) <= 200
    assert said == f"[{len(text) - len(kept):,} of {len(text):,} characters left out: ask for a smaller part]"


@given(st.text(max_size=300), st.integers(1, 100))
def test_a_cut_keeps_the_beginning_and_nothing_but_the_beginning(text: str, limit: int) -> None:
    tool = tool_of(lambda arguments, context: ToolOutput(text or "-"), limit=limit, timeout=0)
    shown = registry(tool).call(ToolCall("c", "web_fetch", {}), CONTEXT).result.text
    kept = shown.rpartition("\n[")[0] if len(text) > limit else shown
    assert (text or "-").startswith(kept) and len(kept) <= max(limit, 1)


def test_two_tools_of_one_name_and_groups_nobody_knows_are_refused() -> None:
    for tools in ((tool_of(), tool_of()), (tool_of(name="Bad name"),), (tool_of(groups=("exce",)),)):
        with pytest.raises(ValueError, match="has a name that is taken"):
            registry(*tools)


def test_several_threads_may_call_at_once() -> None:
    tools = registry(tool_of(lambda arguments, context: ToolOutput(context.call)))
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(lambda n: tools.call(ToolCall(str(n), "web_fetch", {}), CONTEXT).result.text, range(20))
        assert list(results) == [str(number) for number in range(20)]


def test_a_key_is_masked_before_a_result_is_cut() -> None:
    """Half a key would not be known any more."""
    key = "0f3c9a7be1d24c5f8a6b7c8d9e0f1a2b"

    def shows(arguments: JsonObject, context: RunContext) -> ToolOutput:
        return ToolOutput("x" * 90 + key + "y" * 90)

    def breaks(arguments: JsonObject, context: RunContext) -> ToolOutput:
        raise ToolFailed("x" * (ERROR_CHARACTERS - 20) + key)

    tools = [tool_of(shows, name="page_show", limit=110), tool_of(breaks, name="page_break")]
    made = Registry(tools, FREE, lambda tool, policies: tool, FakeClock(), mask=KnownSecrets([key]).mask)
    for name in ("page_show", "page_break"):
        said = made.call(ToolCall("1", name, {}), RunContext("run-1", "")).result.text
        assert key[:6] not in said and "***" in said
