"""A long run is offered `plan`; what it writes down is in its reminders, after a restart too, and doors are told."""

from pathlib import Path

from agent.context.anchor import Anchor, Plan
from agent.events.runs import PlanChanged
from agent.llm.messages import Context, Json, JsonObject, Request
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.session import load_session, sessions
from tests.loop.stage import Stage

STEPS: JsonObject = {"done": ["read the notes"], "now": "sort\nthem", "left": ["link them", "tell what is missing"]}


def looks(number: int, start: int = 0) -> list[ScriptedReply]:
    return [ScriptedReply("", (ScriptedCall("vault_list", {"limit": start + n + 1}),)) for n in range(number)]


def plans(**steps: Json) -> ScriptedReply:
    return ScriptedReply("", (ScriptedCall("plan", {**STEPS, **steps}),))


def tools(request: Request) -> set[str]:
    return {each.name for each in request.tools}


def reminder(request: Request) -> str:
    last = request.messages[-1]
    return last.text if isinstance(last, Context) and last.source == "anchor" else ""


def test_a_plan_is_offered_once_a_run_is_long_and_stands_in_its_reminders(tmp_path: Path) -> None:
    model = Scripted([*looks(8), plans(), *looks(8, 20), ScriptedReply("Done.")])
    here, told = Stage(tmp_path, model), list[PlanChanged]()
    here.bus.subscribe(told.append, PlanChanged, name="ear")
    here.ask("Sort all notes")
    assert ["plan" in tools(each) for each in model.requests] == [False] * 8 + [True] * 10
    assert "Write down the steps that remain with `plan`" in reminder(model.requests[8])
    later = next(text for each in list(model.requests)[9:] if (text := reminder(each)))
    assert "(1 steps are done" in later and "\n2. sort them\n3. link them\n4. tell what is missing" in later
    assert "Write down" not in later
    assert [(each.done, each.now, each.left) for each in told] == [
        (("read the notes",), "sort them", ("link them", "tell what is missing"))
    ]


def test_a_run_that_is_taken_up_again_has_its_plan(tmp_path: Path) -> None:
    here = Stage(tmp_path, Scripted([plans(), plans(now="link them", left=[]), *looks(3)]))
    run = here.run("Sort all notes", here.session())
    run.agent.bus.subscribe(lambda event: setattr(here, "cancel", len(run.used) == 3), object, name="stop")
    run.go()
    here.cancel = False
    (path,) = sessions(here.vault)
    session = load_session(here.vault, path)
    began = session.open_run
    assert began is not None
    again = here.run(began.task, session, began.run)
    again.resume()
    assert again.anchor().plan == Plan(("read the notes",), "link them", ())


def test_a_plan_without_a_step_is_refused_and_a_reminder_keeps_to_its_lines() -> None:
    told = Anchor("x", plan=Plan((), "a" * 900, ("b\n## c",))).reminder(1_000, len)
    assert "\n2. b ## c" in told and "a" * 300 not in told
