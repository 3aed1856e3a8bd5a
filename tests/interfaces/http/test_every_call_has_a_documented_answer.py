"""Schemathesis against a real vault: whatever is sent, nothing fails inside the server, and each answer is one that the
API's document has."""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
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

CALLS = 600
STREAMS = {"events", "run_events", "port"}
"""Answers that do not end by themselves."""
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("house")) as found:
        yield found


def call_all(house: OpenHouse, calls: int) -> Counter[int]:
    """Send that many calls, the same number to each operation, right and wrong ones; the statuses of the answers."""
    schema = schemathesis.openapi.from_dict(house.get("/openapi.json"))
    schema.config.update(base_url=house.url)
    found = (each.ok() for each in schema.get_all_operations() if isinstance(each, Ok))
    operations = [each for each in found if each.definition.raw["operationId"] not in STREAMS]
    statuses: Counter[int] = Counter()
    each = max(1, calls // len(operations) // 2)
    for operation, mode in product(operations, (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)):
        if mode is GenerationMode.NEGATIVE and not _may_be_wrong(operation.definition.raw):
            continue

        @settings(
            max_examples=each,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            response = case.call(headers={"Authorization": house.client.headers["Authorization"]})
            statuses[response.status_code] += 1
            case.validate_response(response, checks=list(CHECKS))

        check()
    return statuses


def _may_be_wrong(described: dict[str, Any]) -> bool:
    """True if the operation has a parameter or a body."""
    given = [found for found in described["parameters"] if found["in"] != "header"]
    return bool(given) or "requestBody" in described


def test_every_answer_is_documented(house: OpenHouse) -> None:
    statuses = call_all(house, int(os.environ.get("CALLS", CALLS)))

    assert statuses[200]


@pytest.mark.chaos
def test_every_answer_is_documented_in_many_calls(tmp_path: Path) -> None:
    with open_house(tmp_path) as house:
        assert call_all(house, 20_000)[200]
