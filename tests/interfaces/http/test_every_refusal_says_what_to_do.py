"""Whatever is asked wrongly over HTTP, the problem document says what is wrong and has a hint."""

from collections.abc import Iterator

import pytest

from agent.errors import ToolRetry
from agent.interfaces.http.problems import problem_of
from tests.interfaces.http.doors import OpenHouse, open_house


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenHouse]:
    with open_house(tmp_path_factory.mktemp("refusals")) as found:
        yield found


@pytest.mark.parametrize(
    ("method", "path", "code", "detail", "hint"),
    [
        ("PATCH", "/api/v1/search", 405, "/api/v1/search does not take PATCH", "it takes GET, HEAD"),
        ("DELETE", "/api/v1/undo", 405, "/api/v1/undo does not take DELETE", "it takes POST"),
        ("GET", "/api/v1/nosuch", 404, "there is nothing at /api/v1/nosuch", "/openapi.json lists what there is"),
        ("GET", "/api/v1/notes/nosuch", 422, "nosuch is no note", "see /openapi.json"),
        ("GET", "/api/v1/notes/%00.md", 400, "control characters", "use another path"),
        ("GET", "/api/v1/notes/.git%2Fconfig", 400, "belongs to git", "use another path"),
    ],
)
def test_it_does(house: OpenHouse, method: str, path: str, code: int, detail: str, hint: str) -> None:
    answer = house.client.request(method, path)
    assert answer.status_code == code
    assert detail in answer.json()["detail"] and hint in answer.json()["hint"]


def test_an_error_without_a_hint_gets_one_in_the_language_of_the_client() -> None:
    assert problem_of(ToolRetry("that is no note"), "en").hint == "see /openapi.json for the form"
    assert problem_of(ToolRetry("that is no note"), "zh").hint == "格式见 /openapi.json"


def test_a_failure_that_refers_to_the_log_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    assert "the server's log has the details" in problem_of(ZeroDivisionError("a bug"), "en").hint
    assert "ZeroDivisionError: a bug" in caplog.text
