"""The API's document: made from the table, and true."""

import re

from agent.interfaces.http.api.table import TABLE, document_of
from agent.interfaces.http.operation import cursor_after
from agent.memory.profile.profile_file import note_name


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


def test_the_document_says_where_it_is_served_and_in_what_groups_and_forms() -> None:
    found = document_of(TABLE)
    assert found["servers"][0]["url"] == "/" and found["info"]["license"]["identifier"] == "MIT"
    tags = {each["name"] for each in found["tags"]}
    operations = [each for methods in found["paths"].values() for each in methods.values()]
    assert all(len(each["tags"]) == 1 and set(each["tags"]) <= tags for each in operations)
    assert {"runs", "notes", "proactive", "profile-files"} <= tags
    named = {(each["name"]): each["schema"] for one in operations for each in one["parameters"]}
    for wrong in ("/etc/passwd", "../x.md", "a/../b.md", "a/.."):
        assert not re.search(named["path"]["pattern"], wrong), wrong
    assert all(re.search(named["path"]["pattern"], right) for right in ("a.md", "Straße/x..y.md", "a/.b.md"))
    (note, *_) = (each["schema"] for each in found["paths"]["/api/v1/notes/{path}"]["get"]["parameters"])
    assert not any(re.search(note["pattern"], wrong) for wrong in ("../x.md", "a", "a/.md"))
    assert re.search(note["pattern"], "Straße/x..y.md")
    assert re.search(named["cursor"]["pattern"], cursor_after(3, "x/ü.md")) and re.search(
        named["cursor"]["pattern"], ""
    )
    assert not re.search(named["cursor"]["pattern"], "H4BfOqd")
    profile = named["filename"]["pattern"]
    assert all(re.search(profile, each) and note_name(each) for each in ("31-preferences.md", "topics/大提琴.md"))
    assert not any(re.search(profile, each) for each in ("0", "topics/.md", "topics/a/b.md", "x.md"))


def test_lists_come_in_pages_of_bounded_size() -> None:
    for path, methods in document_of(TABLE)["paths"].items():
        for each in methods.values():
            parameters = {found["name"]: found["schema"] for found in each["parameters"]}
            if "cursor" in parameters:
                assert parameters["limit"]["maximum"] <= 200, path
