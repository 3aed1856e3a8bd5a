"""Models by kind of work: what falls back to the main one, where a key goes, and that all are on one account."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.app.open import open_workspace
from agent.config.load import load_settings, variable
from agent.config.settings import keys
from agent.context.budget import estimate
from agent.errors import ConfigError, LimitReached
from agent.events.runs import Speaker
from agent.interfaces.cli.main import main
from agent.llm.endpoint import Endpoint
from agent.llm.known_models import cost
from agent.llm.messages import Request, Usage, User
from agent.llm.presets import KINDS, ModelKind, endpoint, price
from agent.llm.providers import providers
from agent.loop.records import RunRequest
from agent.runs.accounts import open_accounts
from tests.fakes import FakeClock
from tests.llm.dialects import Spoken, anthropic, counted, openai
from tests.llm.servers import ModelServer, Visit, model_server
from tests.vaults import make_vault

OTHERS = KINDS[1:]
ANYWHERE: dict[str, dict[str, str]] = {
    "a name": {"llm.model": "gpt-4o"},
    "a preset": {"llm.preset": "anthropic"},
    "an address": {"llm.base_url": "http://127.0.0.1:9/v1", "llm.model": "mine", "llm.api_key": "env:MINE"},
    "a window": {"llm.model": "claude-sonnet-5", "llm.wire": "anthropic", "llm.window": "9000"},
}


def places(settings: dict[str, str]) -> dict[ModelKind, Endpoint]:
    llm = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}, flags=settings).settings.llm
    found = {kind: endpoint(llm, kind) for kind in KINDS}
    return {kind: each[1] for kind, each in found.items() if each}


@pytest.mark.parametrize("main_model", ANYWHERE.values(), ids=ANYWHERE)
def test_who_names_one_model_has_it_for_everything_but_a_preset_s_small_tasks(main_model: dict[str, str]) -> None:
    found = places(main_model)
    small = "claude-haiku-5-5" if main_model == ANYWHERE["a preset"] else found["main"].model.name
    assert found["reflection"] == found["user"] == found["main"]
    assert found["fast"].model.name == small


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("main_model", ANYWHERE.values(), ids=ANYWHERE)
def test_a_name_alone_is_another_model_of_the_same_server(main_model: dict[str, str], kind: ModelKind) -> None:
    before = places(main_model)
    found = places({**main_model, f"llm.{kind}.model": "another", f"llm.{kind}.window": "5000"})
    own = found.pop(kind)
    assert found == {other: each for other, each in before.items() if other != kind}
    assert (own.base_url, own.key) == (before["main"].base_url, before["main"].key)
    assert (own.model.name, own.model.window) == ("another", 5_000)
    assert (own.section, own.model_section) == ("llm", f"llm.{kind}"), "so that errors name the right settings"


@pytest.mark.parametrize("kind", OTHERS)
def test_a_server_of_its_own_gets_its_own_key_and_never_the_main_one(kind: ModelKind) -> None:
    main_model = {"llm.preset": "openai", "llm.api_key": "env:MINE", "llm.window": "9000"}
    own = places({**main_model, f"llm.{kind}.base_url": "https://example.org/v1", f"llm.{kind}.model": "m"})[kind]
    assert (own.base_url, own.key.reference, own.model.window) == ("https://example.org/v1", "", 128_000)
    own = places({**main_model, f"llm.{kind}.preset": "anthropic"})[kind]
    assert own.key.reference == "env:ANTHROPIC_API_KEY"
    assert own.model.name == ("claude-haiku-5-5" if kind == "fast" else "claude-sonnet-5-5")
    own = places({**main_model, f"llm.{kind}.preset": "anthropic", f"llm.{kind}.api_key": "env:OTHER"})[kind]
    assert own.key.reference == "env:OTHER"
    own = places({**main_model, f"llm.{kind}.preset": "openai", f"llm.{kind}.model": "gpt-4o"})[kind]
    assert own.key.reference == "env:MINE", "it is the same address"


_VALUES = {
    "preset": ["", "openai", "anthropic", "ollama"],
    "wire": ["auto", "openai", "anthropic"],
    "base_url": ["", "https://example.org/v1", "https://api.openai.com/v1"],
    "model": ["", "gpt-4o", "mine"],
}
_MAIN_KEY, _OWN_KEY = st.sampled_from(["", "env:MAIN"]), st.sampled_from(["", "env:OWN"])


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {f"llm.{name}": st.sampled_from(each) for name, each in _VALUES.items()} | {"llm.api_key": _MAIN_KEY}
    ),
    st.fixed_dictionaries(
        {f"llm.user.{name}": st.sampled_from(each) for name, each in _VALUES.items()} | {"llm.user.api_key": _OWN_KEY}
    ),
)
def test_a_key_goes_to_the_address_that_it_was_given_for_or_the_settings_are_refused(
    main_model: dict[str, str], own: dict[str, str]
) -> None:
    try:
        found = places({**main_model, **own})
    except ConfigError as error:
        assert error.message.startswith("llm.") and error.hint
        return
    if found and found["user"].base_url != found["main"].base_url:
        assert found["user"].key.reference != "env:MAIN"


@pytest.mark.parametrize("kind", OTHERS)
def test_a_wire_alone_names_no_server(kind: ModelKind) -> None:
    """Who has a server of their own must not meet a provider's by naming the protocol twice."""
    assert places({**ANYWHERE["an address"], f"llm.{kind}.wire": "openai"}) == places(ANYWHERE["an address"])
    with pytest.raises(ConfigError) as caught:
        places({**ANYWHERE["an address"], f"llm.{kind}.wire": "anthropic"})
    assert caught.value.message.startswith(f"llm.{kind}.wire is anthropic")


def test_a_model_for_a_kind_alone_is_half_a_setting() -> None:
    with pytest.raises(ConfigError) as caught:
        places({"llm.reflection.model": "m"})
    assert caught.value.message == "llm.reflection.model is set, but not which main model to ask"
    with pytest.raises(ConfigError) as caught:
        places({"llm.model": "m", "llm.user.preset": "olama"})
    assert caught.value.message.startswith("llm.user.preset") and "ollama" in caught.value.hint


@pytest.mark.parametrize("wire", ["offline", "scripted"])
def test_offline_and_scripted_hold_for_all_kinds(wire: str) -> None:
    flags = {"llm.wire": wire, "llm.user.model": "m"}
    llm = load_settings(environ={"VAULT_AGENT_HOME": "/nowhere"}, flags=flags).settings.llm
    chosen = providers(llm, FakeClock(), counted)
    assert {type(chosen.of(kind)) for kind in KINDS} == {type(chosen.main)}


def test_the_former_name_of_a_setting_still_counts_and_the_present_one_wins(tmp_path: Path) -> None:
    file = tmp_path / "config" / "config.yaml"
    file.parent.mkdir()
    environ = {"VAULT_AGENT_HOME": str(tmp_path)}
    file.write_text("llm:\n  fast_model: old\n", "utf-8")
    assert load_settings(environ=environ).settings.llm.fast.model == "old"
    assert load_settings(environ=environ).origin("llm.fast.model").place == f"{file}:2"
    file.write_text("llm:\n  fast:\n    model: new\n  fast_model: old\n", "utf-8")
    assert load_settings(environ=environ).settings.llm.fast.model == "new"
    assert load_settings(environ={**environ, "VAULT_AGENT_LLM__FAST_MODEL": "x"}).settings.llm.fast.model == "x"
    assert "llm.fast_model" not in keys()


def server_of(wire: Spoken) -> AbstractContextManager[ModelServer]:
    def answer(visit: Visit) -> None:
        visit.head()
        visit.send(wire.answer("ready"))

    return model_server(answer)


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ModelServer, ModelServer]]:
    """A vault whose main model is on one server, and the one for reflection on another, with another wire and key."""
    with server_of(openai) as one, server_of(anthropic) as two:
        settings = {
            "llm.base_url": one.url,
            "llm.model": "gpt-6-sol",
            "llm.api_key": "key-of-the-main-model",
            "llm.reflection.wire": "anthropic",
            "llm.reflection.base_url": two.url,
            "llm.reflection.model": "claude-haiku-5-5",
            "llm.reflection.api_key": "key-of-the-other",
        }
        monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
        for key, value in settings.items():
            monkeypatch.setenv(variable(key), value)
        monkeypatch.chdir(make_vault(tmp_path, {"a.md": "one\n"}).place.root)
        yield one, two


QUESTION = Request((User("Are you there?"),), max_output=50)


def test_all_kinds_are_on_one_account_each_at_its_own_price(servers: tuple[ModelServer, ModelServer]) -> None:
    accounts = open_accounts(open_workspace(Path.cwd()), estimate)
    models = accounts.of_run("r1", "")
    for kind in KINDS:
        assert models.of(kind).chat(QUESTION).message.text == "ready"
    one, two = servers
    assert [len(one.asked), len(two.asked)] == [6, 1]
    assert "key-of-the-main-model" in str(one.asked[0].headers) and "key-of-the-other" not in str(one.asked)
    assert "key-of-the-other" in str(two.asked[0].headers) and "key-of-the-main-model" not in str(two.asked)
    spent = accounts.spent("r1")
    main_price, other_price = price("gpt-6-sol"), price("claude-haiku-5-5")
    assert main_price and other_price
    money = 6 * cost(main_price, Usage(120, 7, 100)) + cost(other_price, Usage(120, 7, 100, 5))
    assert (spent.calls, spent.unpriced) == (7, 0)
    assert spent.money == pytest.approx(money)


@pytest.mark.parametrize("kind", ["jobs", "tasks", "research"])
def test_what_is_asked_for_is_done_by_the_model_of_its_kind(
    servers: tuple[ModelServer, ModelServer], monkeypatch: pytest.MonkeyPatch, kind: ModelKind
) -> None:
    monkeypatch.setenv(variable(f"llm.{kind}.model"), "claude-opus-5")
    models = open_accounts(open_workspace(Path.cwd()), estimate).of_run("r1", "")
    assert models.doing(kind).main.model.name == "claude-opus-5"
    others = [each for each in KINDS if each not in {kind, "reflection"}]
    assert {models.doing(each).main.model.name for each in others} == {"gpt-6-sol"}


def test_a_job_and_a_planned_task_are_kinds_of_work() -> None:
    by_job = Speaker("job")
    asked = [
        RunRequest("x", Speaker("cli")),
        RunRequest("x", by_job, job="j"),
        RunRequest("x", by_job, purpose="chase"),
    ]
    assert [each.work for each in asked] == ["main", "jobs", "tasks"]


def test_a_ceiling_holds_for_all_kinds_together(
    servers: tuple[ModelServer, ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable("spend.calls_per_run"), "1")
    models = open_accounts(open_workspace(Path.cwd()), estimate).of_run("r1", "")
    models.of("main").chat(QUESTION)
    with pytest.raises(LimitReached):
        models.of("reflection").chat(QUESTION)
    assert servers[1].asked == []


def test_doctor_and_status_say_which_model_does_what(
    servers: tuple[ModelServer, ModelServer], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--model"]) == 0
    said = capsys.readouterr().out
    assert "gpt-6-sol (for main, fast, user, research, jobs, tasks) answers" in said
    assert "claude-haiku-5-5 (for reflection) answers" in said
    assert [len(server.asked) for server in servers] == [1, 1]
    assert main(["status"]) == 0
    assert "agent    gpt-6-sol, reflection: claude-haiku-5-5; today " in capsys.readouterr().out
    monkeypatch.setenv(variable("llm.reflection.api_key"), "env:NOT_SET")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "bad   model: claude-haiku-5-5 (for reflection) has no key" in said and "export NOT_SET=" in said
    assert [len(server.asked) for server in servers] == [1, 1], "without --model none is asked"


def test_doctor_and_status_know_the_model_behind_the_first(
    servers: tuple[ModelServer, ModelServer], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with model_server(refuse) as third:
        monkeypatch.setenv(variable("llm.base_url"), third.url)
        monkeypatch.setenv(variable("llm.fallback.base_url"), servers[0].url)
        monkeypatch.setenv(variable("llm.fallback.model"), "gpt-6-luna")
        monkeypatch.setenv(variable("llm.fallback.api_key"), "key-of-the-fallback")
        main(["doctor", "--model"])
        said = capsys.readouterr().out
    asked_for = "gpt-6-sol (for main, fast, user, research, jobs, tasks)"
    assert f"{asked_for}: answered by gpt-6-luna, as gpt-6-sol did not answer" in said
    assert "gpt-6-luna (for fallback) answers" in said
    assert main(["status"]) == 0
    assert "fallback: gpt-6-luna" in capsys.readouterr().out


def refuse(visit: Visit) -> None:
    visit.head("401 Unauthorized", "application/json")
    visit.send(b'{"error": {"message": "who are you?"}}')


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"llm.reflection.base_url": "{}"}, "vault-agent config get llm.reflection.api_key"),
        ({"llm.user.base_url": "{}", "llm.user.model": "m"}, "vault-agent config set llm.user.api_key env:NAME"),
        ({"llm.base_url": "{}", "llm.fast.model": "small"}, "vault-agent config get llm.api_key"),
    ],
)
def test_a_server_that_refuses_is_told_with_the_settings_that_name_its_key(
    change: dict[str, str],
    says: str,
    servers: tuple[ModelServer, ModelServer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with model_server(refuse) as third:
        for key, value in change.items():
            monkeypatch.setenv(variable(key), value.format(third.url))
        assert main(["doctor", "--model"]) == 1
    steps = capsys.readouterr().out.split("Next:")[1]
    assert says in steps and steps.count("api_key`") + steps.count("env:NAME") == 1
