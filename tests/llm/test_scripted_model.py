"""The scripted model: what it says, when, and where it goes on."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentError, ConfigError, Interrupted, MissingKey, Permanent, Retryable
from agent.llm.messages import Assistant, Context, Message, Request, System, ToolCall, ToolResult, Usage, User
from agent.llm.scripted import AFTER, Scripted, ScriptedCall, ScriptedReply
from tests.fakes import FakeClock

EXAMPLE = """
model: {name: demo, window: 9000, max_output: 500}
replies:
  - text: I will look for it.
    calls: [{tool: search_vault, arguments: {query: tea, since: 2026-11-21}}]
  - Found it.
  - {error: retryable, message: too busy, times: 2}
  - text: Tea is made with water.
    usage: {input: 900, output: 12, cached: 800}
    chunks: ["Tea is ", "made with water."]
  - {when: Summarise, text: A summary.}
  - {task: look up, text: In the sub-run., calls: [{tool: vault_list}]}
  - {task: look up, text: The sub-run is done.}
after: That is all.
"""


def example(folder: Path) -> Scripted:
    (folder / "demo.yaml").write_text(EXAMPLE)
    return Scripted.load(folder / "demo.yaml")


def say(model: Scripted, messages: list[Message]) -> Assistant:
    """Ask, and put the answer and the results of its calls behind the messages."""
    message = model.chat(Request(tuple(messages))).message
    messages.append(message)
    messages.extend(ToolResult(call.id, call.name, "a result") for call in message.calls)
    return message


def start(text: str = "How do I make tea?") -> list[Message]:
    return [System("be kind"), User(text)]


def test_the_replies_of_a_file_come_in_order(tmp_path: Path) -> None:
    model = example(tmp_path)
    talk = start()
    first = say(model, talk)
    assert first.text == "I will look for it."
    assert first.calls == (ToolCall("s-0-1", "search_vault", {"query": "tea", "since": "2026-11-21"}),)
    assert say(model, talk).text == "Found it."
    for _ in range(2):
        with pytest.raises(Retryable, match="too busy"):
            say(model, talk)
    assert say(model, talk).text == "Tea is made with water."
    assert say(model, talk).text == "That is all."
    assert say(model, talk).text == "That is all."
    assert model.model.name == "demo" and model.model.window == 9000 and model.model.present
    assert len(model.requests) == 7


def test_a_summary_and_a_sub_run_do_not_move_the_script_on(tmp_path: Path) -> None:
    model = example(tmp_path)
    talk = start()
    say(model, talk)
    assert say(model, start("Summarise this: tea")).text == "A summary."
    sub = start("please look up tea")
    assert say(model, sub).calls[0].id == "t0-0-1"
    assert say(model, sub).text == "The sub-run is done."
    assert say(model, talk).text == "Found it."


def test_a_standing_reply_in_the_middle_leaves_the_order_as_it_is() -> None:
    model = Scripted(
        [
            ScriptedReply("one", (ScriptedCall("a"),)),
            ScriptedReply("two"),
            ScriptedReply("sorry", (ScriptedCall("b"),), when="refused"),
        ]
    )
    talk = start()
    say(model, talk)
    talk[-1] = ToolResult("s-0-1", "a", "refused", failed=True)
    assert say(model, talk).text == "sorry"
    assert say(model, talk).text == "two"


@given(st.integers(1, 12), st.data())
def test_another_process_goes_on_where_the_messages_are(length: int, data: st.DataObject) -> None:
    lines = [ScriptedReply(f"reply {n}", (ScriptedCall("tool", {"n": n}),) if n % 3 else ()) for n in range(length)]
    kill = data.draw(st.integers(0, length))
    whole, cut = start(), start()
    for _ in range(length):
        say(Scripted(lines), whole)
    first = Scripted(lines)
    for _ in range(kill):
        say(first, cut)
    second = Scripted(lines)
    for _ in range(length - kill):
        say(second, cut)
    assert cut == whole
    ids = [call.id for message in whole if isinstance(message, Assistant) for call in message.calls]
    assert len(ids) == len(set(ids))


def test_a_summary_in_the_place_of_old_messages_does_not_set_the_script_back() -> None:
    model = Scripted([ScriptedReply(f"reply {n}", (ScriptedCall("tool"),)) for n in range(6)])
    talk = start()
    for _ in range(4):
        say(model, talk)
    talk[1:-2] = [Context("what was said before", "summary")]
    assert say(model, talk).text == "reply 4"


def test_without_a_script_the_last_request_is_echoed() -> None:
    heard: list[str] = []
    request = Request((System("s"), User("first"), Assistant("first"), User("泡茶 要 多久"), Context("x", "anchor")))
    reply = Scripted().chat(request, heard.append)
    assert reply.message.text == "泡茶 要 多久" == "".join(heard)
    assert reply.stop == "end" and reply.usage.input > 0 and reply.usage.output > 0
    assert Scripted.load("").chat(request).message.text == "泡茶 要 多久"


@given(st.text())
def test_what_is_streamed_is_what_is_said(text: str) -> None:
    heard: list[str] = []
    reply = Scripted([ScriptedReply(text)]).chat(Request((User("x"),)), heard.append)
    assert reply.message.text == text
    assert "".join(heard) == text


def test_what_is_used_is_what_the_script_says(tmp_path: Path) -> None:
    line = ScriptedReply("x", usage=Usage(900, 12, 800), chunks=("a", "b"))
    reply = Scripted([line]).chat(Request((User("x"),)))
    assert reply.usage == Usage(900, 12, 800) and reply.message.text == "ab"


@pytest.mark.parametrize(
    ("error", "kind"),
    [("retryable", Retryable), ("permanent", Permanent), ("key", MissingKey), ("interrupted", Interrupted)],
)
def test_an_error_may_be_raised_for_ever(error: str, kind: type[AgentError]) -> None:
    model = Scripted([ScriptedReply(error=error, times=0)])  # type: ignore[arg-type]  # from the table above
    for _ in range(5):
        with pytest.raises(kind):
            model.chat(Request((User("x"),)))


def test_the_end_of_the_script_may_be_an_error() -> None:
    with pytest.raises(Permanent):
        Scripted([ScriptedReply("one")], after=None).chat(Request((User("x"), Assistant("one"))))
    assert Scripted([ScriptedReply("one")]).chat(Request((User("x"), Assistant("one")))).message.text == AFTER


def test_a_slow_reply_is_cancelled_at_once() -> None:
    clock = FakeClock()
    model = Scripted([ScriptedReply("late", seconds=60.0)], clock=clock)
    with pytest.raises(Interrupted):
        model.chat(Request((User("x"),)), cancelled=lambda: clock.elapsed > 1)
    assert clock.elapsed < 1.5
    assert model.chat(Request((User("x"),))).message.text == "late"
    assert clock.elapsed >= 60


def test_many_threads_get_the_reply_of_their_own_place() -> None:
    lines = [ScriptedReply(f"reply {n}") for n in range(5)]
    model = Scripted(lines)

    def talk(_: int) -> list[str]:
        mine = start()
        return [say(model, mine).text for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        assert all(said == [f"reply {n}" for n in range(5)] for said in pool.map(talk, range(40)))


def test_the_same_conversation_gets_the_same_answers() -> None:
    lines = [ScriptedReply("a", (ScriptedCall("x", {"k": [1, {"z": None}]}),)), ScriptedReply("b")]
    one, other = start(), start()
    for _ in range(4):
        say(Scripted(lines), one)
        say(Scripted(lines), other)
    assert one == other


def test_a_script_may_be_json_or_a_bare_list(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"replies": [{"text": "hello"}]}))
    (tmp_path / "b.yaml").write_text("- hello\n- {text: again}\n")
    assert say(Scripted.load(tmp_path / "a.json"), start()).text == "hello"
    talk = start()
    model = Scripted.load(tmp_path / "b.yaml")
    assert [say(model, talk).text for _ in range(2)] == ["hello", "again"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("replies: [{txt: a}]", "reply 1: unknown txt"),
        ("replies: {a: b}", "replies is not a list"),
        ("replies: [7]", "reply 1: neither"),
        ("replies: [{error: strange}]", "error is strange"),
        ("replies: [{text: a, seconds: -1}]", "seconds is not a number"),
        ("replies: [{calls: [{name: x}]}]", "call 1: unknown name"),
        ("a: b: c", "not YAML"),
        ("!!python/object/apply:os.system ['true']", "not YAML"),
        ("replies: &a [*a]", "not YAML"),
        ("model: 7", "model is not a mapping"),
    ],
)
def test_a_mistake_in_a_script_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        Scripted.load(path)
    assert said in raised.value.message and str(path) in raised.value.message


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Scripted.load(tmp_path / "none.yaml")
