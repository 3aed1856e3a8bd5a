"""What goes on the wire in each situation is kept as a file that a person can read, and every open model's template
takes it. After a change that is meant: `VAULT_AGENT_REQUESTS=write pytest tests/context/test_requests_read_well.py`,
then read the files."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import jinja2
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agent.llm import openai
from agent.llm.dialect import Dialect
from agent.llm.endpoint import Endpoint
from agent.llm.messages import JsonObject, Request, items, mapping
from agent.llm.turns import REFUSED
from tests.context.situations import SITUATIONS, home
from tests.llm.dialects import MODEL

FOLDER = Path(__file__).parent / "requests"
TEMPLATES = Path(__file__).parent / "templates"
FIRST = Dialect("max_tokens", {})
SHOWN_ONCE = "(as in first_question)"
CHANGING = re.compile(r"\b(?:[0-9a-f]{12}|[0-9a-f]{10}|[0-9A-Z]{26}|[0-9a-f]{8}(?=\.md))\b")
"""Commits, ids and names of notes made from them, which are others in each run."""


def sent(request: Request, dialect: Dialect = FIRST) -> JsonObject:
    """The body of a request on the wire."""
    return openai.body(Endpoint("http://127.0.0.1:1/v1", MODEL), request, dialect)


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Request]]:
    """The last request of each situation."""
    found: dict[str, Request] = {}
    with (
        pytest.MonkeyPatch.context() as patch,
        home(tmp_path_factory.mktemp("home"), patch.setenv, patch.setattr) as here,
    ):
        for situation in SITUATIONS:
            here.model.heard = []
            situation(here)
            found[situation.__name__] = here.model.heard[-1]
    yield found


def readable(name: str, body: JsonObject, system: str) -> str:
    """A request as text: the tools by name, then each turn under its role."""
    names = [str(mapping(mapping(tool).get("function"))["name"]) for tool in items(body.get("tools"))]
    lines = [f"tools: {', '.join(names)}", f"max_tokens: {body['max_tokens']}"]
    lines += [f"tool_choice: {body['tool_choice']}"] if "tool_choice" in body else []
    for turn in map(mapping, items(body["messages"])):
        text = str(turn["content"])
        shown = SHOWN_ONCE if text == system and name != SITUATIONS[0].__name__ else text
        lines += ["", f"======== {turn['role']}", *([shown] if shown else [])]
        for each in map(mapping, items(turn.get("tool_calls"))):
            function = mapping(each["function"])
            lines.append(f"-> {function['name']} {function['arguments']}")
    return CHANGING.sub("…", "\n".join(lines)) + "\n"


@pytest.mark.parametrize("name", [situation.__name__ for situation in SITUATIONS])
def test_the_request_of_a_situation_is_as_it_was_read(name: str, requests: Mapping[str, Request]) -> None:
    system = requests[SITUATIONS[0].__name__].messages[0].text
    path, now = FOLDER / f"{name}.md", readable(name, sent(requests[name]), system)
    if os.environ.get("VAULT_AGENT_REQUESTS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(now, "utf-8")
    assert now == path.read_text("utf-8")


def turns(body: JsonObject) -> Sequence[JsonObject]:
    return [mapping(turn) for turn in items(body["messages"])]


def test_every_turn_says_something_and_roles_take_turns(requests: Mapping[str, Request]) -> None:
    for name, request in requests.items():
        body = turns(sent(request))
        assert all(turn["content"] or turn.get("tool_calls") for turn in body), name
        said = [turn["role"] for turn in body if turn["role"] != "tool" and not turn.get("tool_calls")]
        assert said[0] == "system" and all(one != other for one, other in zip(said, said[1:], strict=False)), name
        assert body[-1]["role"] in {"user", "tool"}, name


class Refused(Exception):
    """A template refuses a request."""


def render(template: str, body: JsonObject) -> str:
    """The prompt that a server makes of a request with this model's template; raises `Refused` as it would."""

    def refuse(why: str) -> None:
        raise Refused(why)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.ChainableUndefined
    )
    environment.globals["raise_exception"] = refuse
    made = environment.from_string((TEMPLATES / f"{template}.jinja").read_text("utf-8"))
    return made.render(messages=turns(body), tools=body.get("tools"), add_generation_prompt=True)


def accepted(template: str, request: Request) -> str:
    """The prompt of a request, in the dialect that the wire comes to after what the server says."""
    try:
        return render(template, sent(request))
    except Refused as error:
        other = FIRST.after(f"400: {error}")
        assert other is not None and other.plain, error
        return render(template, sent(request, other))


@pytest.mark.parametrize("template", sorted(path.stem for path in TEMPLATES.glob("*.jinja")))
def test_every_open_model_s_template_takes_every_request(template: str, requests: Mapping[str, Request]) -> None:
    for name, request in requests.items():
        prompt = accepted(template, request)
        for turn in turns(sent(request)):
            text = str(turn["content"]).strip()
            beside_calls = bool(turn.get("tool_calls"))  # which some templates leave out, as published
            assert beside_calls or text.split("\n")[0] in prompt, f"{name}: {text[:80]}"


@pytest.mark.parametrize("template", ["chatml", "qwen", "mistral"])
def test_most_templates_take_them_as_they_are(template: str, requests: Mapping[str, Request]) -> None:
    """With their calls as calls: plain turns are for the others."""
    for request in requests.values():
        assert render(template, sent(request))


def test_what_a_template_refuses_is_known_by_its_words(requests: Mapping[str, Request]) -> None:
    """Of llama 3.1 only several calls in one answer, of gemma the system message."""
    refused: dict[str, set[str]] = {"gemma": set(), "llama3": set()}
    for template, names in refused.items():
        for name, request in requests.items():
            try:
                render(template, sent(request))
            except Refused as error:
                assert REFUSED.search(str(error))
                names.add(name)
    assert refused == {"gemma": set(requests), "llama3": {"after_tool_calls"}}
