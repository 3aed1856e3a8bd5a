"""What a route takes and answers is what its function's types say, and nothing is said of it elsewhere."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Annotated, Any, cast

import msgspec
import pytest

from agent.deeds.result import Id, ResultValue
from agent.interfaces.http.api.table import document_of
from agent.interfaces.http.operation import (
    IfMatch,
    LastEvent,
    ListPage,
    Operation,
    Routes,
    StreamEvent,
    TypedReply,
    arguments,
    listed,
)
from agent.interfaces.http.service import Service
from agent.workspace.workspace import Workspace

SERVICE = cast(Service, SimpleNamespace(workspace="the vault"))
ROUTES = Routes("/things")
Size = Annotated[int, msgspec.Meta(ge=1)]


class Change(msgspec.Struct, frozen=True):
    """What to change."""

    text: str


class Thing(ResultValue, frozen=True):
    """A thing."""

    id: str


class Things(ResultValue, frozen=True):
    """All things."""

    things: list[Thing]


@ROUTES.put("/{id}", "Change a thing", 404, status=201)
def change_thing(workspace: Workspace, id: Id, change: Change, if_match: IfMatch, size: Size = 3) -> TypedReply[Thing]:
    """Change one."""
    return TypedReply(Thing(id))


@ROUTES.post("/{id}/name", "Name a thing", 404)
def name_thing(workspace: Workspace, id: Id, name: Id, kinds: tuple[str, ...] = ()) -> Thing:
    """Name one."""
    return Thing(name)


@ROUTES.get("/events", "What happens")
async def happen(service: Service, last_event: LastEvent) -> AsyncIterator[StreamEvent]:
    """It happens."""
    yield StreamEvent("one", msgspec.Raw(b"1"))


def list_things(workspace: Workspace, kind: str = "") -> Things:
    """List them."""
    return Things([Thing(f"{kind}{number}") for number in range(5)])


ROUTES.get("", "The things")(listed("ThingList", "things", list_things))
CHANGE, NAME, HAPPEN, LIST = ROUTES.entries


def given(entry: Operation, params: dict[str, str], body: object = None, **headers: str) -> tuple[object, Any]:
    return arguments(entry, SERVICE, params, body, {name.replace("_", "-"): each for name, each in headers.items()})


def test_each_argument_is_taken_from_where_its_type_says() -> None:
    change = Change("new")
    first, others = given(CHANGE, {"id": "a", "size": "7"}, change, If_Match='W/"v1"')
    assert (first, others) == ("the vault", {"id": "a", "size": 7, "change": change, "if_match": "v1"})
    assert given(HAPPEN, {})[0] is SERVICE
    assert given(CHANGE, {"id": "a"}, change)[1]["size"] == 3


def test_what_the_path_does_not_name_is_the_body_of_a_change() -> None:
    body = NAME.taken.body_type
    assert body is not None
    sent = msgspec.json.decode(b'{"name": "tea", "kinds": ["green"]}', type=body)
    assert given(NAME, {"id": "a"}, sent)[1] == {"id": "a", "name": "tea", "kinds": ("green",)}
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"name": "tea", "more": 1}', type=body)
    name = document_of(ROUTES.entries)["paths"]["/things/{id}/name"]["post"]
    assert ([each["name"] for each in name["parameters"]], name["requestBody"]["required"]) == (
        ["id", "Idempotency-Key"], True,
    )  # fmt: skip


@pytest.mark.parametrize("params", [{"id": ""}, {"id": "a", "size": "0"}, {"id": "a", "more": "x"}, {}])
def test_what_a_type_does_not_allow_is_refused(params: dict[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError):
        given(CHANGE, params, Change("new"))


def test_a_deed_that_returns_a_list_is_a_route_with_pages() -> None:
    first, others = given(LIST, {"limit": "2", "kind": "x"})
    page = LIST.function(first, **others)
    assert ([each.id for each in page.things], others["page"]) == (["x0", "x1"], ListPage(2))
    _, others = given(LIST, {"limit": "9", "kind": "x", "cursor": page.next_cursor})
    rest = LIST.function(first, **others)
    assert ([each.id for each in rest.things], rest.next_cursor) == (["x2", "x3", "x4"], None)


def test_the_document_says_it_as_the_function_does() -> None:
    paths = document_of(ROUTES.entries)["paths"]
    change, events, listing = (
        paths["/things/{id}"]["put"],
        paths["/things/events"]["get"],
        paths["/things"]["get"],
    )
    assert [(each["name"], each["in"]) for each in change["parameters"]] == [
        ("id", "path"), ("size", "query"), ("If-Match", "header"), ("Idempotency-Key", "header"),
    ]  # fmt: skip
    assert (change["operationId"], change["description"]) == ("change_thing", "Change one.")
    assert change["requestBody"]["required"]
    assert {"201", "404"} <= change["responses"].keys()
    assert list(events["responses"]["200"]["content"]) == ["text/event-stream"]
    assert {each["name"] for each in listing["parameters"]} == {"limit", "cursor", "kind"}
