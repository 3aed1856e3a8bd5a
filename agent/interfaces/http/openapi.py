"""The API's document (OpenAPI 3.1), made from the table of operations: what is not in the table is not in it."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from inspect import getdoc
from typing import Any

import msgspec

from agent.interfaces.http.operation import AnyOperation, AnyStream, Call, NoParams, Operation
from agent.interfaces.http.problems import CONTENT_TYPE, EVERY_OPERATION, Problem

PATH = "/openapi.json"
_REFS = "#/components/schemas/{name}"
_PLACE = re.compile(r"\{(\w+)(?::\w+)?\}")
_HEADERS = {
    "If-Match": "The version (ETag) of the note that the client has.",
    "If-None-Match": "*, to make a note that must not be there yet.",
    "Idempotency-Key": "A new key for each new request: the same request with it is carried out once a day.",
    "Last-Event-ID": "The id of the last event that the client has.",
}
_ABOUT = """\
Everything that the command line does with one vault, for programs on this machine and for the dashboard.

Every request needs `Authorization: Bearer` with the token in the file that `vault-agent serve` names. Failures are
problem documents (RFC 9457) whose `hint` says what to do. What needs a person's yes is answered with 403 and the note
that asks for it; after the yes the same request is carried out."""

Document = dict[str, Any]


def openapi_operation(table: Iterable[AnyOperation | AnyStream]) -> AnyOperation:
    """The operation that answers with the document of this table."""
    entries = tuple(table)

    @cache
    def made() -> Document:
        return document_of(entries)

    def document(call: Call[NoParams, None]) -> Document:
        return made()

    return Operation("GET", PATH, "openapi", "This document", document, dict, NoParams)


def document_of(table: Iterable[AnyOperation | AnyStream]) -> Document:
    """The document of all operations and streams."""
    entries = tuple(table)
    kinds: list[Any] = [Problem]
    for each in entries:
        if isinstance(each, Operation):
            kinds += [each.result, *([each.body] if each.body is not None else [])]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFS)
    by_kind = dict(zip(map(repr, kinds), schemas, strict=True))
    paths: dict[str, Document] = {}
    for each in entries:
        described = _operation(each, by_kind) if isinstance(each, Operation) else _stream(each, by_kind)
        paths.setdefault(_PLACE.sub(r"{\1}", each.path), {})[each.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "vault-agent", "version": _version(), "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _version() -> str:
    try:
        return version("vault-agent")
    except PackageNotFoundError:
        return "0"


def _operation(operation: AnyOperation, schemas: Mapping[str, Any]) -> Document:
    headers = [*operation.headers, *([] if operation.method == "GET" else ["Idempotency-Key"])]
    is_json = operation.content_type == "application/json"
    content = {operation.content_type: {"schema": schemas[repr(operation.result)] if is_json else {"type": "string"}}}
    found: Document = {
        **_about(operation, operation.respond),
        "parameters": [*_parameters(operation), *map(_header, headers)],
        "responses": {
            str(int(operation.status)): {"description": HTTPStatus(operation.status).phrase, "content": content},
            **_others(operation, content, schemas, has_body=operation.body is not None),
        },
    }
    if operation.body is not None:
        body = {"application/json": {"schema": schemas[repr(operation.body)]}}
        found["requestBody"] = {"required": _is_needed(operation.body), "content": body}
    return found


def _is_needed(body: Any) -> bool:
    """True if a body has a field that must be given."""
    return any(each.required for each in msgspec.structs.fields(body))


def _stream(stream: AnyStream, schemas: Mapping[str, Any]) -> Document:
    content = {"text/event-stream": {"schema": {"type": "string"}}}
    return {
        **_about(stream, stream.events),
        "parameters": [*_parameters(stream), _header("Last-Event-ID")],
        "responses": {
            "200": {"description": "Events (SSE): each has a kind, an id, and JSON as its data.", "content": content},
            **_others(stream, content, schemas, has_body=False),
        },
    }


def _about(entry: AnyOperation | AnyStream, function: object) -> Document:
    return {"operationId": entry.name, "summary": entry.summary, "description": getdoc(function) or ""}


def _others(
    entry: AnyOperation | AnyStream, content: Document, schemas: Mapping[str, Any], *, has_body: bool
) -> Document:
    """The other answers: those that are no failure have the operation's own type, the rest are problem documents."""
    has_place = "{" in entry.path  # with a line end in it, it is no path of this route
    problem = {CONTENT_TYPE: {"schema": schemas[repr(Problem)]}}
    found = sorted({*entry.problems, *EVERY_OPERATION, *([415] if has_body else []), *([404] if has_place else [])})
    return {
        str(status): {
            "description": HTTPStatus(status).phrase,
            "content": content if status < HTTPStatus.BAD_REQUEST else problem,
        }
        for status in found
    }


def _parameters(entry: AnyOperation | AnyStream) -> list[Document]:
    (_,), components = msgspec.json.schema_components([entry.params], ref_template=_REFS)
    schema = components[entry.params.__name__]
    in_path = set(_PLACE.findall(entry.path))
    found: list[Document] = []
    for name, each in schema["properties"].items():
        place = "path" if name in in_path else "query"
        about = {"description": each["description"]} if "description" in each else {}
        required = name in in_path or name in schema.get("required", ())
        found.append({"name": name, "in": place, "required": required, "schema": each, **about})
    return found


def _header(name: str) -> Document:
    about = _HEADERS[name]
    return {"name": name, "in": "header", "required": False, "schema": {"type": "string"}, "description": about}
