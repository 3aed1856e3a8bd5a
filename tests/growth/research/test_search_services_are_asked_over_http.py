"""Brave, Tavily and SearXNG are asked by real HTTP: what they find, how they refuse, and what is said of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, urlsplit

import pytest

from agent.config.growth_settings import EngineSettings, ResearchSettings, SearxngSettings
from agent.config.secrets import Secret
from agent.errors import Interrupted, ToolFailed
from agent.growth.research.web_source import SearchEngine, engines_of
from agent.llm.messages import never
from agent.tools.builtin.web import FetchLimits
from tests.fakes import FakeClock
from tests.growth.research.services import KEY, Service, ServiceName, service
from tests.growth.research.study import studying

NAMES = get_args(ServiceName)


@pytest.fixture(params=NAMES)
def found(request: pytest.FixtureRequest) -> Iterator[Service]:
    with service(request.param) as made:
        yield made


def settings(made: Service, key: str = KEY) -> ResearchSettings:
    """The settings with which only this service is asked."""
    nothing, asked = EngineSettings("http://127.0.0.1:1", Secret("")), EngineSettings(f"{made.url}/", Secret(key))
    return ResearchSettings(
        SearxngSettings(made.url if made.name == "searxng" else ""),
        asked if made.name == "brave" else nothing,
        asked if made.name == "tavily" else nothing,
    )


def engine(made: Service, clock: FakeClock, key: str = KEY) -> SearchEngine:
    (only,) = engines_of(settings(made, key), clock)
    return only


def refusal(made: Service, key: str = KEY) -> str:
    with pytest.raises(ToolFailed) as caught:
        engine(made, FakeClock(), key).find("bridge", 10, never)
    assert KEY not in caught.value.message and "Wrong-key" not in caught.value.message
    return caught.value.message


def test_what_it_finds_becomes_leads(found: Service) -> None:
    leads = engine(found, FakeClock()).find("old bridge " + "x" * 500, 10, never)
    assert [each.address for each in leads] == ["https://one.example/bridge", "https://two.example/river"]
    assert leads[-1].excerpt == "It floods in spring." and leads[-1].date == ""
    method, path, headers, body = found.asked[0]
    query = json.loads(body)["query"] if method == "POST" else parse_qs(urlsplit(path).query)["q"][0]
    assert query.startswith("old bridge x") and len(query) <= 400
    assert headers["user-agent"] == "vault-agent" and len(found.asked) == 1


def test_titles_are_plain_and_days_are_kept(found: Service) -> None:
    (first,) = engine(found, FakeClock()).find("bridge", 1, never)
    assert (first.title, first.excerpt) == ("The bridge & its arch", "It was built in 1891.")
    assert first.date == "2024-05-06"


def test_one_that_is_asked_too_quickly_is_asked_again(found: Service) -> None:
    found.limited, found.wait = 2, "2"
    clock = FakeClock()
    assert len(engine(found, clock).find("bridge", 10, never)) == 2
    assert len(found.asked) == 3 and clock.elapsed == pytest.approx(4.0)


def test_it_waits_a_second_where_nothing_is_said_and_never_long(found: Service) -> None:
    found.limited, clock = 1, FakeClock()
    engine(found, clock).find("bridge", 10, never)
    assert 1 <= clock.elapsed <= 2
    found.limited, found.wait, clock = 1, "86400", FakeClock()
    engine(found, clock).find("bridge", 10, never)
    assert clock.elapsed <= 10


def test_too_many_searches_are_said(found: Service) -> None:
    found.limited = 9
    assert refusal(found).endswith("answered 429: too many searches, 3 tries; try again later")
    assert len(found.asked) == 3


def test_a_stop_ends_the_wait(found: Service) -> None:
    found.limited = 9
    with pytest.raises(Interrupted):
        engine(found, FakeClock()).find("bridge", 10, lambda: len(found.asked) > 0)


@pytest.mark.parametrize(("name", "said"), [
    ("brave", "Brave answered 422: it refuses us; check research.brave.api_key"),
    ("tavily", "Tavily answered 401: it refuses us; check research.tavily.api_key"),
])  # fmt: skip
def test_a_key_that_does_not_count_is_said(name: ServiceName, said: str) -> None:
    with service(name) as made:
        assert refusal(made, "Wrong-key-0123456789") == said
        assert len(made.asked) == 1


@pytest.mark.parametrize("name", ["brave", "tavily"])
def test_a_key_that_is_not_there_is_said_and_nothing_is_sent(name: ServiceName) -> None:
    with service(name) as made:
        assert "was not asked" in refusal(made, "env:NO_SUCH_KEY_HERE") and made.asked == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "it refuses us; check"),
        (404, "check research."),
        (432, "what its plan allows is used up"),
        (500, "it has a problem of its own; try again later"),
        (302, "check research."),
    ],
)
def test_other_refusals_say_what_to_do(found: Service, status: int, said: str) -> None:
    found.status = status
    assert said in refusal(found)


@pytest.mark.parametrize(
    "body",
    [b"<html>Log in</html>", b"", b'{"results": [', b"[1, 2]", b"\xff\xfe\x00", b'"words"', b"[" * 5_000],
    ids=["a page", "nothing", "half", "a list", "no text", "a word", "too deep"],
)
def test_what_is_no_answer_is_said(found: Service, body: bytes) -> None:
    found.body = body or b" "
    assert "did not answer as a search engine does: check research." in refusal(found)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"results": "x", "web": 3}',
        b'{"results": [null, 1, {"url": 7}], "web": {"results": [[], {"url": null}]}}',
    ],
)
def test_an_answer_without_results_is_none(found: Service, body: bytes) -> None:
    found.body = body
    assert engine(found, FakeClock()).find("bridge", 10, never) == ()


def test_a_server_that_is_not_there_is_said() -> None:
    with service("brave") as made:
        pass
    said = refusal(made)
    assert said.startswith("Brave gave no answer (") and said.endswith("check research.brave.base_url")


def test_the_next_service_is_asked_and_the_note_says_why_none_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service("brave") as brave, service("tavily") as tavily:
        for made, key in ((brave, "Wrong-key-0123456789"), (tavily, KEY)):
            monkeypatch.setenv(f"VAULT_AGENT_RESEARCH__{made.name.upper()}__BASE_URL", made.url)
            monkeypatch.setenv(f"VAULT_AGENT_RESEARCH__{made.name.upper()}__API_KEY", key)
        with studying(tmp_path, monkeypatch, {}, engine=False) as study:
            study.limits = FetchLimits(seconds=0.5)  # nobody answers at https:// here
            found = study.go("The old bridge")
            assert {each.address for each in found.sources} == {
                "https://one.example/bridge",
                "https://two.example/river",
            }
            assert brave.asked and tavily.asked and all(each.is_excerpt for each in found.sources)
            note = study.note("The old bridge")
            assert "only what the search engine shows of it was read" in note and "Wrong-key" not in note
            tavily.status = 500
            study.go("The new bridge")
            note = study.note("The new bridge")
    assert "Brave answered 422: it refuses us; check research.brave.api_key" in note
    assert "Tavily answered 500" in note and KEY not in note
