"""A conversation only grows: what a model was sent is sent again, byte for byte, whatever became of the notes since."""

import json
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.llm import openai
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.messages import Assistant, Request
from agent.loop.records import RunRequest
from agent.loop.session import stored_texts
from agent.markdown.note import Note
from agent.vault.layout import GIVEN_TEXTS
from agent.workspace.search_index import open_index
from tests.context.situations import ENTRY, YOU, Home, call, home
from tests.llm.dialects import MODEL
from tests.stories.agents import ticked
from tests.stories.life import Calendar
from tests.vaults import git, write

TEA = "# Tea\n\nAnna drinks jasmine tea in the evening, at seventy degrees, for two minutes.\n"
SHARE = 0.98


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home(tmp_path, monkeypatch.setenv, monkeypatch.setattr) as found:
        monkeypatch.setenv("VAULT_AGENT_CONTEXT__KEEP_TURNS", "10")
        yield found


def turns(request: Request) -> str:
    """The tools and the messages of a request as the wire has them."""
    body = openai.body(Endpoint("http://127.0.0.1:1/v1", MODEL), request, Dialect("max_tokens", {}))
    return json.dumps([body.get("tools"), body["messages"]], ensure_ascii=False)


def reused(before: Request, after: Request) -> float:
    """The part of a request with which the next one begins."""
    one, other = (turns(each).removesuffix("]]") for each in (before, after))
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return same / len(one)


def restarted(here: Home, session: str, task: str, *replies: str) -> None:
    """The next turn of the session, in a new process."""
    workspace = open_workspace(here.root, clock=Calendar())
    with closing(open_index(workspace)) as index:
        index.refresh()
        with closing(build_runs(workspace, index)) as agent:
            Home(here.root, agent, here.model).ask(task, *replies, session=session)


def test_a_conversation_goes_on_with_the_same_bytes_whatever_happens_between_its_turns(here: Home) -> None:
    write(here.root / "drinks/jasmine tea.md", TEA)
    first = here.ask("How does Anna drink her jasmine tea?", "At seventy degrees.")
    write(here.root / "drinks/jasmine tea.md", TEA.replace("seventy", "eighty"))
    here.ask("And what does my plan say?", "Buy tea.", session=first.session)
    write(here.root / "profile/00-basic-info.md", "# Basic information\n\n- **Name**: Bo\n")
    write(here.root / "AGENT.md", "# Who the agent is here\n\nBe long.\n")
    here.agent.capturing.settle()  # it commits beside the turns
    git(here.root, "add", "-A")
    git(here.root, "commit", "-qm", "other words")
    waits = here.ask(
        "Make AGENT.md friendlier", call("vault_append", path="AGENT.md", text="Be kind."), session=first.session
    )
    (asked,) = (here.root / "approvals").glob("*.md")
    write(asked, ticked(asked.read_text("utf-8"), "approve"))
    here.model.replies = [Assistant("Done.")]
    here.agent.resume(waits.session)
    done = here.ask("Add a note about cake", call("vault_write", path="cake.md", content="Cake.\n"), "Done.",
                    session=first.session)  # fmt: skip
    assert main(["--vault", str(here.root), "undo", "--run", done.run, "--yes"]) == 0
    here.model.replies = [Assistant("Calm.")]
    here.agent.ask(RunRequest("Sum up the day", YOU, job="daily"))
    (here.root / "plan.md").unlink()
    restarted(here, first.session, "Which tea was it again?", "Jasmine.")
    restarted(here, first.session, "And the cake?", "There is none.")
    talk = [each for each in here.model.heard if "How does Anna drink" in turns(each)]
    assert len(talk) == 8
    shares = [reused(before, after) for before, after in pairwise(talk)]
    assert min(shares) >= SHARE, shares


def add_entry(here: Home) -> None:
    """An entry with a secret."""
    secret = ENTRY.replace("Anna drinks jasmine tea in the evening.", "My code word is Heffalump.")
    write(here.root / "entries/2026/11/secret.md", secret)


def kept_files(here: Home) -> list[Path]:
    """The files with what models were given."""
    return list((here.agent.workspace.vault.private_folder / GIVEN_TEXTS).glob("*.jsonl"))


def test_what_is_forgotten_is_not_sent_again(here: Home) -> None:
    add_entry(here)
    first = here.ask("What is my code word?", "It is in your notes.")
    other = here.ask("Which tea does Anna drink in the evening?", "Jasmine.")
    sent = turns(here.model.heard[-1])
    assert main(["--vault", str(here.root), "forget", "entries/2026/11/secret.md", "--yes"]) == 0
    kept = [each.read_text("utf-8") for each in kept_files(here)]
    assert len(kept) == 2 and not any("Heffalump" in each for each in kept)
    here.ask("And now?", "I do not know.", session=first.session)
    assert "Heffalump" not in turns(here.model.heard[-1])
    here.ask("Sure?", "Yes.", session=other.session)
    assert turns(here.model.heard[-1]).startswith(sent.removesuffix("]]"))


def test_a_forgetting_leaves_the_thinking_of_a_talk_that_waits_for_a_yes(here: Home) -> None:
    add_entry(here)
    waits = here.ask("Make AGENT.md friendlier", call("vault_append", path="AGENT.md", text="Be kind."))
    id = Note.parse((here.root / waits.session).read_bytes()).id or ""
    thinking = '{"thinking before": "call-1", "by": "m", "kept": []}'
    for session in (id, other_id := here.agent.workspace.vault.clock.new_id()):
        stored_texts(here.agent.workspace.vault).put(session, [thinking, "My code word is Heffalump.", "Tea is green."])
    assert main(["--vault", str(here.root), "forget", "entries/2026/11/secret.md", "--yes"]) == 0
    texts = {each: set(stored_texts(here.agent.workspace.vault).of(each).values()) for each in (id, other_id)}
    assert {thinking, "Tea is green."} <= texts[id] and texts[other_id] == {"Tea is green."}
    assert "My code word is Heffalump." not in texts[id]


def test_an_empty_machine_goes_on_with_the_talk_alone(here: Home) -> None:
    """As a session that was begun on another machine."""
    first = here.ask("Which tea does Anna drink in the evening?", "Jasmine.")
    for each in kept_files(here):
        each.unlink()
    here.ask("Are you sure?", "Yes.", session=first.session)
    sent = turns(here.model.heard[-1])
    assert "Which tea does Anna drink in the evening?" in sent and "Jasmine." in sent and "How you work" in sent
