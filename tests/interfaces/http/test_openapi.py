"""The API's document: made from the table, and true."""

from agent.interfaces.http.api.table import TABLE
from agent.interfaces.http.openapi import document_of


def test_every_route_is_in_the_document() -> None:
    paths = document_of(TABLE)["paths"]

    for each in TABLE:
        found = paths[each.path.replace(":path}", "}")][each.method.lower()]
        assert found["operationId"] == each.name
        assert found["summary"]
        assert {"401", "403", "422"} <= set(found["responses"])


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [each.name for each in TABLE]

    assert len(names) == len(set(names))


def test_every_parameter_of_a_path_is_required() -> None:
    for path, methods in document_of(TABLE)["paths"].items():
        for each in methods.values():
            in_path = {found["name"] for found in each["parameters"] if found["in"] == "path"}
            assert in_path == {part.strip("{}") for part in path.split("/") if part.startswith("{")}


def test_lists_come_in_pages_of_bounded_size() -> None:
    for path, methods in document_of(TABLE)["paths"].items():
        for each in methods.values():
            parameters = {found["name"]: found["schema"] for found in each["parameters"]}
            if "cursor" in parameters:
                assert parameters["limit"]["maximum"] <= 200, path
