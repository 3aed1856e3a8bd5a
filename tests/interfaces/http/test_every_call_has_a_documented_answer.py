"""Schemathesis against a real vault: whatever is sent, nothing fails inside the server, and each answer is one that the
API's document has."""

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.interfaces.http.doors import OpenHouse, open_house

CALLS, PARTS = 600, 3
STREAMS = {"events", "run_events", "port"}
"""Answers that do not end by themselves."""
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house")) as found:
        yield found


def call_all(house: OpenHouse, calls: int, part: int = 0, parts: int = 1) -> Counter[int]:
    """Send one part of that many calls, right and wrong ones; the statuses of the answers.

    Each operation gets as many as its neighbours; one that takes nothing can be called in one way only. One answer in
    a thousand calls may be lost with its connection, as on any busy machine; the call is sent again then.
    """
    schema = schemathesis.openapi.from_dict(house.get("/openapi.json"))
    schema.config.update(base_url=house.url)
    found = (each.ok() for each in schema.get_all_operations() if isinstance(each, Ok))
    operations = [each for each in found if each.definition.raw["operationId"] not in STREAMS]
    many = [each for each in operations if _takes_something(each.definition.raw)]
    kinds = [*product(many, (GenerationMode.POSITIVE, GenerationMode.NEGATIVE))]
    one = [(each, GenerationMode.POSITIVE) for each in operations if each not in many]
    statuses: Counter[int] = Counter()
    lost: list[str] = []
    with requests.Session() as session:
        session.headers["Authorization"] = house.client.headers["Authorization"]
        for operation, mode in [*kinds, *one][part::parts]:

            @settings(
                max_examples=ceil(calls / len(kinds)),
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def check(case: Any) -> None:
                try:
                    response = case.call(session=session, headers=dict(session.headers))
                except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
                    lost.append(f"{case.operation.label}: {error}")
                    response = case.call(session=session, headers=dict(session.headers))
                statuses[response.status_code] += 1
                case.validate_response(response, checks=list(CHECKS))

            check()
    assert len(lost) <= ceil(calls / 1000), lost
    return statuses


def _takes_something(described: dict[str, Any]) -> bool:
    """True if the operation has a parameter or a body: it can be called wrongly."""
    given = [found for found in described["parameters"] if found["in"] != "header"]
    return bool(given) or "requestBody" in described


@pytest.mark.parametrize("part", range(PARTS))
def test_every_answer_is_documented(house: OpenHouse, part: int) -> None:
    """In parts, which the processes of one check share."""
    statuses = call_all(house, CALLS, part, PARTS)

    assert statuses[200] and statuses.total() >= CALLS / PARTS * 0.9


@pytest.mark.chaos
def test_every_answer_is_documented_in_many_calls(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        assert call_all(house, 20_000)[200]
