"""A run asks the model, does what it asks for, keeps every step in the session's note, and knows when to stop."""

import shutil
from pathlib import Path

import pytest

from agent.errors import ToolFailed
from agent.events.bus import Injection
from agent.events.runs import IterationStarted, Speaker, TaskCompleted, TaskStarted, ToolCompleted
from agent.events.runs import ToolCallFailed as Failed
from agent.llm.messages import Assistant, Context, JsonObject, ToolCall, ToolResult, User
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import RunOutcome
from agent.loop.records import RunRequest, Spoken
from agent.loop.session import load_session
from agent.tools.tool import RunContext, Tool, ToolOutput
from agent.vault.history.commits import work_of
from agent.vault.history.find import commits
from tests.fakes import FakeClock
from tests.loop.stage import Stage, carried_out, note, stage
from tests.vaults import git

WRITE = ScriptedReply("I write it.", (ScriptedCall("vault_write", {"path": "tea.md", "content": "Green.\n"}),))
NO_ARGUMENTS: JsonObject = {"type": "object", "properties": {}, "additionalProperties": False}
READ = ScriptedReply("", (ScriptedCall("vault_read", {"path": "a.md"}), ScriptedCall("vault_read", {"path": "b.md"})))


def test_an_answer_ends_the_run(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Hello, Anna."])
    ended = here.ask("Say hello")
    assert (ended.outcome, ended.answer, ended.steps) == (RunOutcome.FINISHED, "Hello, Anna.", 1)
    assert "".join(here.said) == "Hello, Anna."


def test_what_was_said_is_in_the_session_s_note(tmp_path: Path) -> None:
    here = stage(tmp_path, [WRITE, "Done: [[tea]]."])
    ended = here.ask("Write about tea")
    session = load_session(here.vault, ended.session)
    said = [type(message) for message in session.history]
    assert said == [Context, User, Assistant, ToolResult, Assistant]
    shown = note(here.vault, ended.session)
    assert "Write about tea" in shown and 'vault_write "tea.md" → done' in shown and "Done: [[tea]]." in shown
    assert session.open_run is None


def test_a_run_is_one_commit_that_says_what_each_call_has_changed(tmp_path: Path) -> None:
    more = ScriptedReply("", (ScriptedCall("vault_write", {"path": "b.md", "content": "Black."}),))
    here = stage(tmp_path, [WRITE, more, "Done."])
    before = here.vault.head
    ended = here.ask("Write about tea")
    assert note(here.vault, "tea.md") == "Green.\n" and ended.is_changed
    found = commits(here.vault)[0]
    assert found.parents == (before,) and [change.path for change in work_of(found).files] == ["b.md", "tea.md"]
    assert ended.session in [change.path for change in found.files]
    assert (found.run, found.session, found.actor) == (ended.run, ended.session, "agent")
    assert {(each.path, each.tool) for each in found.work} == {("tea.md", "vault_write"), ("b.md", "vault_write")}
    assert all(each.call for each in found.work) and "- vault(write): tea.md" in found.body.splitlines()


def test_every_commit_of_a_session_names_it(tmp_path: Path) -> None:
    here = stage(tmp_path, [WRITE, "Done."])
    ended = here.ask("Write about tea")
    ours = [each for each in commits(here.vault) if each.actor == "agent"]
    assert {each.session for each in ours} == {ended.session}


def test_calls_that_only_read_give_their_results_in_the_order_in_which_they_were_asked_for(tmp_path: Path) -> None:
    here = stage(tmp_path, [READ, "Both read."], a="Apples.\n", b="Bananas.\n")
    ended = here.ask("Read both")
    results = [m for m in load_session(here.vault, ended.session).history if isinstance(m, ToolResult)]
    assert ["Apples" in results[0].text, "Bananas" in results[1].text] == [True, True]
    assert [source.path for source in ended.sources] == ["a.md", "b.md"]


def test_a_failing_tool_is_told_to_the_model_and_the_run_goes_on(tmp_path: Path) -> None:
    here = stage(
        tmp_path, [ScriptedReply("", (ScriptedCall("vault_read", {"path": "missing.md"}),)), "It is not there."]
    )
    ended = here.ask("Read it")
    assert ended.outcome is RunOutcome.FINISHED
    (result,) = [m for m in load_session(here.vault, ended.session).history if isinstance(m, ToolResult)]
    assert result.failed and "missing.md" in result.text


@pytest.mark.parametrize(
    "call",
    [
        ScriptedCall("no_such_tool", {}),
        ScriptedCall("vault_write", {"path": "tea.md"}),
        ScriptedCall("vault_write", {"path": "../out.md", "content": "x"}),
        ScriptedCall("vault_write", {"path": ".git/config", "content": "x"}),
        ScriptedCall("vault_read", {}, "it was cut off"),
    ],
)
def test_bad_calls_come_back_as_plain_errors(tmp_path: Path, call: ScriptedCall) -> None:
    here = stage(tmp_path, [ScriptedReply("", (call,)), "I give up."])
    ended = here.ask("Try")
    assert (ended.outcome, ended.is_changed) == (RunOutcome.FINISHED, False)
    (result,) = [m for m in load_session(here.vault, ended.session).history if isinstance(m, ToolResult)]
    assert result.failed and result.text


def repetitions_named(here: Stage) -> list[bool]:
    """For each request, whether the reminder at its end names a repetition."""
    assert isinstance(here.model, Scripted)
    last = (request.messages[-1] for request in here.model.requests)
    return [isinstance(each, Context) and "the same result" in each.text for each in last]


def test_the_same_failing_call_is_stopped_after_three(tmp_path: Path) -> None:
    again = ScriptedReply("", (ScriptedCall("vault_read", {"path": "missing.md"}),))
    here = stage(tmp_path, [again] * 10)
    ended = here.ask("Read it")
    assert (ended.outcome, ended.steps) == (RunOutcome.LIMIT, 4)
    results = carried_out(load_session(here.vault, ended.session))
    assert len(results) == 3 and "not be tried again" in results[-1].text


def test_the_same_call_with_the_same_result_is_stopped_after_eight(tmp_path: Path) -> None:
    here = stage(tmp_path, [ScriptedReply("", (ScriptedCall("vault_read", {"path": "a.md"}),))] * 60, a="Apples.\n")
    ended = here.ask("Read it")
    assert (ended.outcome, ended.steps, len(ended.tools)) == (RunOutcome.LIMIT, 9, 8)
    assert 'vault_read "a.md" gave the same result 8 times' in ended.reason and "ask again in other words" in ended.hint
    results = carried_out(load_session(here.vault, ended.session))
    assert len({result.text for result in results}) == 1, "a warning is no part of a result"
    assert repetitions_named(here)[:9] == [False] * 3 + [True] * 6
    assert here.ask("Read it again", load_session(here.vault, ended.session)).steps == 9, "a new run has a new count"


def test_two_calls_by_turns_that_tell_nothing_new_are_stopped_too(tmp_path: Path) -> None:
    by_turns = [ScriptedReply("", (ScriptedCall("vault_read", {"path": path}),)) for path in ("a.md", "b.md")] * 30
    here = stage(tmp_path, [READ, *by_turns], a="Apples.\n", b="Bananas.\n")
    ended = here.ask("Read both")
    assert (ended.outcome, len(ended.tools)) == (RunOutcome.LIMIT, 16)


def test_a_note_that_grows_may_be_read_as_often_as_it_does(tmp_path: Path) -> None:
    append, read = (
        ScriptedCall("vault_append", {"path": "log.md", "text": "again"}),
        ScriptedCall("vault_read", {"path": "log.md"}),
    )
    here = stage(tmp_path, [*[ScriptedReply("", (append, read))] * 12, "Done."])
    ended = here.ask("Write it twelve times, and look each time")
    assert (ended.outcome, len(ended.tools)) == (RunOutcome.FINISHED, 24)
    assert not any(repetitions_named(here))
    assert note(here.vault, "log.md") == "\n".join(["again\n"] * 12)


def test_one_answer_cannot_ask_for_the_same_failing_call_ten_times(tmp_path: Path) -> None:
    here = stage(tmp_path, [ScriptedReply("", (ScriptedCall("vault_read", {"path": "missing.md"}),) * 10)])
    ended = here.ask("Read it")
    assert ended.outcome is RunOutcome.LIMIT and len(ended.tools) == 3


def test_a_run_has_a_limit_of_steps(tmp_path: Path) -> None:
    lines = [ScriptedReply("", (ScriptedCall("vault_list", {"limit": n + 1}),)) for n in range(60)]
    ended = stage(tmp_path, lines).ask("Go on for ever")
    assert (ended.outcome, ended.steps) == (RunOutcome.LIMIT, 50)
    assert "50 steps" in ended.reason and "run.steps" in ended.hint


def test_a_model_that_fails_ends_the_run_as_failed_and_says_why(tmp_path: Path) -> None:
    here = stage(tmp_path, [ScriptedReply(error="permanent", message="no such model")])
    ended = here.ask("Hello")
    assert (ended.outcome, ended.reason) == (RunOutcome.FAILED, "no such model")
    assert "no such model" in note(here.vault, ended.session)


def test_an_empty_answer_is_a_failure(tmp_path: Path) -> None:
    assert stage(tmp_path, [ScriptedReply("  ")]).ask("Hello").outcome is RunOutcome.FAILED


def test_stopping_ends_the_run_and_keeps_the_session(tmp_path: Path) -> None:
    here = stage(tmp_path, [WRITE, "Done."])

    seen: list[int] = []

    def stop(event: IterationStarted) -> None:
        here.cancel = seen == [1]
        seen.append(event.number)

    here.bus.subscribe(stop, IterationStarted, name="stop")
    ended = here.ask("Write about tea")
    assert ended.outcome is RunOutcome.INTERRUPTED
    assert note(here.vault, "tea.md") == "Green.\n"
    here.cancel = False
    session = load_session(here.vault, ended.session)
    assert session.open_run is not None
    assert here.run("Write about tea", session, ended.run).go(resumed=True).outcome is RunOutcome.FINISHED


def test_messages_that_come_during_a_run_are_taken_up_at_its_next_step(tmp_path: Path) -> None:
    here = stage(tmp_path, [WRITE, "Done, and black tea too."])
    mailbox = Mailbox()
    here.bus.subscribe(lambda event: mailbox.put(User("black tea too")), ToolCompleted, name="person")
    session = here.session("tea")
    here.run("Write about tea", session, mailbox=mailbox).go()
    said = [message for message in session.history if isinstance(message, User)]
    assert [message.text for message in said] == ["Write about tea", "black tea too"]


def test_a_message_that_comes_with_the_answer_is_answered_too(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Hello.", "And good night."])
    mailbox = Mailbox()
    told: list[int] = []

    def speak(event: IterationStarted) -> None:
        if event.number == 1:
            told.append(1)

    here.bus.subscribe(speak, IterationStarted, name="person")
    session = here.session("hello")
    run = here.run("Say hello", session, mailbox=mailbox)
    run.begin()
    reply = run.query()
    mailbox.put(User("and good night"))
    run.execute(reply)
    assert run.query().message.text == "And good night."


def test_in_a_group_another_person_s_message_waits_for_a_run_of_its_own() -> None:
    mailbox = Mailbox()
    mailbox.put(User("mine", "anna"))
    mailbox.put(User("theirs", "bo"))
    assert [message.text for message in mailbox.take("anna")] == ["mine"]
    assert mailbox.first() == User("theirs", "bo")


def test_what_hooks_inject_is_put_before_the_model(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Noted."])
    here.bus.subscribe(lambda event: [Injection("Anna likes tea.", "taste")], TaskStarted, name="taste")
    here.bus.subscribe(lambda event: [Injection("Be brief.", "rule")], IterationStarted, name="rule")
    ended = here.ask("Hello")
    history = load_session(here.vault, ended.session).history
    told = [each for each in history[:4] if not (isinstance(each, Context) and each.source == "moment")]
    assert told == [Context("Anna likes tea.", "taste"), User("Hello"), Context("Be brief.", "rule")]


def test_events_tell_what_happens(tmp_path: Path) -> None:
    here = stage(tmp_path, [WRITE, ScriptedReply("", (ScriptedCall("vault_read", {"path": "missing.md"}),)), "Done."])
    told: list[object] = []
    here.bus.subscribe(told.append, TaskStarted, IterationStarted, ToolCompleted, Failed, name="ear")
    here.bus.subscribe(told.append, TaskCompleted, name="other ear")
    here.ask("Write about tea")
    names = [type(event).__name__ for event in told]
    assert names == [
        *("TaskStarted", "IterationStarted", "ToolCompleted", "IterationStarted", "ToolCallFailed"),
        *("IterationStarted", "TaskCompleted"),
    ]


def test_a_tool_that_ends_the_run_leaves_the_results_of_those_before_it(tmp_path: Path) -> None:
    asks = ScriptedReply(
        "",
        (
            ScriptedCall("vault_append", {"path": "log.md", "text": "one"}),
            ScriptedCall("human_ask", {"question": "Which?"}),
        ),
    )
    here = stage(tmp_path, [asks, "The green one."])
    ended = here.ask("Ask me")
    assert ended.outcome is RunOutcome.QUESTION_ASKED and ended.waits_for.startswith("questions/")
    session = load_session(here.vault, ended.session)
    assert [call.name for call in session.open_calls] == ["human_ask"]
    question = here.root / ended.waits_for
    question.write_text(question.read_text() + "the green one\n")
    again = here.run("Ask me", session, ended.run).go(resumed=True)
    assert (again.outcome, again.answer) == (RunOutcome.FINISHED, "The green one.")
    assert note(here.vault, "log.md") == "one\n"


def test_a_new_task_closes_what_the_last_one_left_open(tmp_path: Path) -> None:
    here = stage(
        tmp_path, [ScriptedReply("", (ScriptedCall("human_ask", {"question": "Which?"}),)), "Something else, then."]
    )
    session = here.session("ask")
    here.ask("Ask me", session)
    here.ask("Never mind", session)
    (result,) = [message for message in session.history if isinstance(message, ToolResult)]
    assert result.failed and "not carried out" in result.text


def test_secrets_are_covered_up_in_the_note_and_for_the_model(tmp_path: Path) -> None:
    key = "sk-ant-" + "a1B2c3D4" * 4
    here = stage(tmp_path, [f"I will not keep {key}."])
    ended = here.ask(f"My key is {key}")
    assert ended.outcome is RunOutcome.FINISHED
    assert key not in note(here.vault, ended.session) and "[secret]" in note(here.vault, ended.session)


def test_a_vault_that_cannot_be_written_is_never_said_to_be_saved(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Hello."])

    def block(event: IterationStarted) -> None:
        shutil.rmtree(here.root / "sessions")
        (here.root / "sessions").write_text("in the way")

    here.bus.subscribe(block, IterationStarted, name="block")
    ended = here.ask("Say hello")
    assert (ended.outcome, ended.answer) == (RunOutcome.FAILED, "Hello.")
    assert "could not be saved" in ended.reason


def test_a_session_that_waits_for_a_rebase_says_so(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Hello."])
    head = (here.root / ".git" / "HEAD").read_text()

    def detach(event: IterationStarted) -> None:
        (here.root / ".git" / "HEAD").write_text(git(here.root, "rev-parse", "HEAD"))

    here.bus.subscribe(detach, IterationStarted, name="detach")
    ended = here.ask("Say hello")
    assert (ended.outcome, ended.answer) == (RunOutcome.FINISHED, "Hello.") and ended.queued
    assert "Hello." not in note(here.vault, ended.session)
    (here.root / ".git" / "HEAD").write_text(head)
    here.vault.settle()
    assert "Hello." in note(here.vault, ended.session)


def test_a_hanging_or_failing_subscriber_does_not_stop_a_run(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Hello."])

    def fail(event: TaskStarted) -> None:
        raise RuntimeError("broken")

    here.bus.subscribe(fail, TaskStarted, name="broken")
    assert here.ask("Hello").outcome is RunOutcome.FINISHED


def test_reading_tools_run_side_by_side(tmp_path: Path) -> None:
    from threading import Barrier

    meet = Barrier(2, timeout=60)

    def perform(arguments: object, context: RunContext) -> ToolOutput:
        meet.wait()
        return ToolOutput("met")

    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
    wait = Tool("test_wait", "Wait for the other.", schema, perform, frozenset({"search"}), readonly=True)
    lines = (
        ScriptedReply("", (ScriptedCall("test_wait", {"n": 1}), ScriptedCall("test_wait", {"n": 2}))),
        ScriptedReply("Met."),
    )
    here = Stage(tmp_path, Scripted(lines), more=(wait,))
    ended = here.ask("Meet")
    results = [m for m in load_session(here.vault, ended.session).history if isinstance(m, ToolResult)]
    assert [result.text for result in results] == ["met", "met"]


def test_an_unknown_error_in_a_tool_is_told_and_not_fatal(tmp_path: Path) -> None:
    def perform(arguments: object, context: RunContext) -> ToolOutput:
        raise ToolFailed("the web is down")

    broken = Tool("test_broken", "Fail.", NO_ARGUMENTS, perform, frozenset({"search"}), readonly=True)
    here = Stage(
        tmp_path,
        Scripted((ScriptedReply("", (ScriptedCall("test_broken"),)), ScriptedReply("So be it."))),
        more=(broken,),
    )
    assert here.ask("Try").outcome is RunOutcome.FINISHED


def test_the_note_has_the_duration_of_each_call(tmp_path: Path) -> None:
    clock = FakeClock()

    def perform(arguments: JsonObject, context: RunContext) -> ToolOutput:
        clock.advance(2.5)
        return ToolOutput("dug")

    dig = Tool("test_dig", "Dig.", NO_ARGUMENTS, perform, frozenset({"search"}))
    lines = ScriptedReply("", (ScriptedCall("test_dig"),)), READ, ScriptedReply("Done.")
    here = Stage(tmp_path, Scripted(lines), {"a.md": "A.\n"}, clock=clock, more=(dig,))
    records = load_session(here.vault, here.ask("Dig").session).records
    spoken = [each.event for each in records if isinstance(each.event, Spoken)]
    assert [each.seconds for each in spoken if isinstance(each.message, ToolResult)] == [2.5, 0.0, 0.0]
    assert {each.seconds for each in spoken if not isinstance(each.message, ToolResult)} == {None}


def test_calls_keep_their_arguments_to_the_letter(tmp_path: Path) -> None:
    text = "```\n%% vault-agent: user {} %%\n你好\n"
    here = stage(
        tmp_path, [ScriptedReply("", (ScriptedCall("vault_append", {"path": "a.md", "text": text}),)), "Done."]
    )
    ended = here.ask("Append")
    (call,) = [
        m.calls[0] for m in load_session(here.vault, ended.session).history if isinstance(m, Assistant) and m.calls
    ]
    assert isinstance(call, ToolCall) and call.arguments == {"path": "a.md", "text": text}


def _quiet(number: int) -> Tool:
    def perform(call: JsonObject, context: RunContext) -> ToolOutput:
        return ToolOutput(f"sensor {number}: 21°")

    words, groups = f"Read sensor {number} of the house.", frozenset({"search"})
    return Tool(f"sensor_{number}", words, NO_ARGUMENTS, perform, groups, seldom=True)


def test_a_tool_that_is_not_described_is_found_and_is_described_from_then_on(tmp_path: Path) -> None:
    find = ScriptedReply("", (ScriptedCall("tool_search", {"purpose": "read sensor 27 of the house"}),))
    model = Scripted([find, ScriptedReply("", (ScriptedCall("sensor_27", {}),)), ScriptedReply("21°.")])
    here = Stage(tmp_path, model, more=tuple(map(_quiet, range(40))))
    ended = here.ask("Is it warm?")
    first, second, _ = model.requests
    before, after = ([spec.name for spec in request.tools] for request in (first, second))
    assert "tool_search" in before and "sensor_27" not in before
    assert after[: len(before)] == before and "sensor_27" in after
    assert ended.answer == "21°."
    assert "sensor_27" in note(here.vault, ended.session)
    again = here.run("And now?", load_session(here.vault, ended.session))
    again.describe_tools()
    assert "sensor_27" in [spec.name for spec in again.described]


def test_the_task_is_last_and_the_moment_before_it(tmp_path: Path) -> None:
    model = Scripted([READ, WRITE, ScriptedReply("Done.")])
    Stage(tmp_path, model, {"a.md": "a\n", "b.md": "b\n"}).ask("Write about tea")
    assert model.requests[0].messages[-1] == User("Write about tea")
    assert model.requests[0].messages[-2] == Context("It is Saturday, 2026-11-21 14:12 (UTC).", "moment")
    assert not any(isinstance(each, Context) and each.source == "anchor" for each in model.requests[-1].messages)


def test_a_job_is_told_that_it_is_one_where_its_answer_goes_and_that_nobody_is_there(tmp_path: Path) -> None:
    here = stage(tmp_path, ["Good morning."])
    run = here.run("Brief me", here.session())
    run.request = RunRequest("Brief me", Speaker("job"), job="briefing", place="the person, through mail")
    run.go()
    assert isinstance(here.model, Scripted)
    told = here.model.requests[0].messages[-2].text
    assert "the job `briefing`" in told and "through mail" in told and "Nobody can answer now" in told
