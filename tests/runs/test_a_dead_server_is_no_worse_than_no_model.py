"""A model that cannot be asked: the notes are quoted as without a model, and what failed is said, by the exit code too.

Only where the model has done nothing yet; a run that fails in its middle says what was done until then.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.run_report import remarks
from agent.loop.outcome import Ended, RunOutcome
from tests.llm.servers import Part, Visit, model_server
from tests.stories.agents import call, document, furnish, script, tell
from tests.vaults import write

ASKED = "When do I drink green tea?"
QUOTED = "> Green tea in the morning."


def answers(status: str, content: str, body: bytes) -> Part:
    def part(visit: Visit) -> None:
        visit.head(status, content)
        visit.send(body)

    return part


def breaks_off(visit: Visit) -> None:
    visit.head()
    visit.send(b'data: {"choices": [')


SERVERS: dict[str, tuple[Part, int]] = {
    "wrong key": (answers("401 Unauthorized", "application/json", b'{"error": {"message": "no such key"}}'), 2),
    "no such model": (answers("404 Not Found", "application/json", b'{"error": "model not found"}'), 2),
    "out of order": (answers("500 Internal Server Error", "text/plain", b"oops"), 75),
    "too busy": (answers("429 Too Many Requests", "application/json", b"{}"), 75),
    "silent": (lambda visit: visit.wait(30), 75),
    "login page": (answers("200 OK", "text/html", b"<html><title>Log in</title></html>"), 2),
    "garbage": (answers("200 OK", "application/json", b"hello"), 75),
    "nothing": (answers("200 OK", "text/event-stream", b"data: [DONE]\n\n"), 75),
    "breaks off": (breaks_off, 75),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault whose model is asked once, over a wire."""
    for key, value in {"WIRE": "openai", "MODEL": "m", "API_KEY": "env:KEY", "RETRIES": "0"}.items():
        monkeypatch.setenv(f"VAULT_AGENT_LLM__{key}", value)
    monkeypatch.setenv("VAULT_AGENT_LLM__TIMEOUT_SECONDS", "1")
    return furnish(tmp_path, monkeypatch.setenv)


def own(**more: str) -> dict[str, str]:
    """The environment of a command, which `tell` makes anew, with other settings of the model."""
    kept = {key: value for key, value in os.environ.items() if key.startswith("VAULT_AGENT_")}
    return {**kept, "KEY": "sk-x", **{f"VAULT_AGENT_LLM__{key}": value for key, value in more.items()}}


@pytest.fixture
def closed() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


@pytest.mark.parametrize("how", [*SERVERS, "refused", "no key"])
def test_the_notes_are_quoted_and_what_failed_is_said(here: Path, closed: str, how: str) -> None:
    part, code = SERVERS.get(how, (breaks_off, 2))
    with ExitStack() as open_ones:
        url = closed if how in ("refused", "no key") else open_ones.enter_context(model_server(part)).url
        settings = own(BASE_URL=url, **({"API_KEY": "env:NOT_SET"} if how == "no key" else {}))
        found = document(here, settings, "ask", ASKED, code=code)
    assert (found["ok"], found["outcome"], found["quoted"]) == (False, "failed", True)
    assert QUOTED in found["answer"] and found["reason"] and found["error"]["message"] == found["reason"]


def test_what_is_printed_are_the_quotations(here: Path, closed: str) -> None:
    printed = tell(here, own(BASE_URL=closed), "ask", ASKED, code=2)
    assert QUOTED in printed and printed.startswith("The model did not answer.") and "llm.preset" not in printed


def test_what_is_told_is_kept_and_a_reminder_is_set(here: Path, closed: str) -> None:
    settings = own(BASE_URL=closed)
    assert "> My sister Kate lives in York." in tell(here, settings, "ask", "My sister Kate lives in York.", code=2)
    assert "York" in "".join(each.read_text("utf-8") for each in here.glob("entries/**/*.md"))
    assert "A reminder is set" in tell(here, settings, "ask", "Remind me tomorrow at 9 to buy tea", code=2)
    assert len([each for each in here.glob("jobs/*.md") if "tea" in each.name]) == 1


def test_a_limit_of_the_day_is_no_worse_either(here: Path, tmp_path: Path) -> None:
    said = script(tmp_path / "script.json", after="Never asked.")
    settings = {**own(WIRE="scripted", SCRIPT=str(said)), "VAULT_AGENT_SPEND__DAILY_TOKENS": "1"}
    found = document(here, settings, "ask", ASKED, code=1)
    assert (found["outcome"], found["quoted"]) == ("limit", True) and QUOTED in found["answer"]
    printed = tell(here, settings, "ask", "Remind me tomorrow at 9 to buy tea", code=1)
    assert "A reminder is set" in printed and len(list(here.glob("jobs/*tea*.md"))) == 1


def test_a_chat_and_a_note_quote_too(here: Path, closed: str) -> None:
    settings = own(BASE_URL=closed)
    assert QUOTED in tell(here, settings, "chat", code=2, said=f"{ASKED}\n")
    write(here / "inbox/question.md", f"---\nstatus: pending\n---\n{ASKED}\n")
    tell(here, settings, "run", "inbox/question.md", code=2)
    note = (here / "inbox/question.md").read_text("utf-8")
    assert "Green tea in the morning." in note and "no model server answers" in note


def test_what_stands_in_asks_no_model_again_in_the_same_run_and_the_next_one_does(here: Path, tmp_path: Path) -> None:
    said = script(tmp_path / "script.json", {"error": "permanent", "message": "it is gone", "times": 1}, "Mornings.")
    settings = own(WIRE="scripted", SCRIPT=str(said))
    first = document(here, settings, "ask", ASKED, code=2)
    assert first["quoted"] and first["reason"] == "it is gone"
    script(said, after="Mornings.")
    again = document(here, settings, "ask", "--session", first["session"], "And now?")
    assert (again["outcome"], again["quoted"]) == ("finished", False)


@pytest.mark.parametrize("before", [lambda: call("vault_list"), lambda: {"text": "I look.", **call("vault_list")}])
def test_a_failure_in_the_middle_quotes_nothing(here: Path, tmp_path: Path, before: Callable[[], object]) -> None:
    said = script(tmp_path / "script.json", before(), {"error": "permanent", "message": "it is gone", "times": 0})
    settings = own(WIRE="scripted", SCRIPT=str(said))
    found = document(here, settings, "ask", ASKED, code=2)
    assert (found["outcome"], found["quoted"], QUOTED in found["answer"]) == ("failed", False, False)


def test_a_failure_in_the_middle_says_what_was_done_until_then(here: Path) -> None:
    ended = Ended(
        "1", "sessions/a.md", RunOutcome.FAILED, "", "it is gone", tools=("vault_read", "vault_edit", "vault_read")
    )
    workspace = open_workspace(here)
    assert "what it had done until then: vault_read × 2, vault_edit × 1" in remarks(ended, workspace)
    assert not [each for each in remarks(replace(ended, is_quoted=True), workspace) if "until then" in each]


def test_nobody_is_quoted_anything_in_a_job(here: Path, closed: str) -> None:
    write(here / "jobs/tea.md", '---\ntype: job\non: {cron: "0 9 * * *"}\n---\nWhen do I drink green tea?\n')
    tell(here, {}, "commit")
    assert "Green tea in the morning" not in tell(here, own(BASE_URL=closed), "jobs", "run", "tea", code=1)
