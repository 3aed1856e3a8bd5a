"""All operations and streams of the API, and its document (OpenAPI 3.1), which is made from them; a group that is not
here does not exist.

`SOCKET_TABLE` is for the program itself: it is served on the daemon's Unix socket and on no port.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from http import HTTPStatus
from inspect import getdoc
from typing import Any

import msgspec

from agent.interfaces.http.api import agent as agents_own
from agent.interfaces.http.api import (
    history,
    needs,
    notes,
    pairings,
    proactive,
    profile_files,
    runs,
    search,
    server,
    sync,
    triggers,
)
from agent.interfaces.http.operation import Operation, Routes, operation
from agent.interfaces.http.problems import CONTENT_TYPE, EVERY_OPERATION, Problem
from agent.interfaces.http.service import Service
from agent.runs.machines import program_version

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


def openapi_operation(table: Iterable[Operation]) -> Operation:
    """The operation that answers with the document of this table."""
    entries = tuple(table)

    @cache
    def made() -> Document:
        return document_of(entries)

    def openapi(service: Service) -> Document:
        return made()

    return operation("GET", PATH, "This document", openapi)


def document_of(table: Iterable[Operation]) -> Document:
    """The document of all operations and streams."""
    entries = tuple(table)
    kinds: list[Any] = [Problem]
    for each in entries:
        kinds += [] if each.is_stream else [each.result]
        kinds += [] if each.taken.body_type is None else [each.taken.body_type]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFS)
    by_kind = dict(zip(map(repr, kinds), schemas, strict=True))
    paths: dict[str, Document] = {}
    for each in entries:
        paths.setdefault(_PLACE.sub(r"{\1}", each.path), {})[each.method.lower()] = _operation(each, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "vault-agent",
            "version": program_version() or "0",
            "description": _ABOUT,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/", "description": "The address that `vault-agent serve` names, on this machine only."}],
        "tags": [{"name": name} for name in sorted({_tag(each) for each in entries})],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
    }


def _tag(entry: Operation) -> str:
    """The group of an operation: the first part of its path that is not the same for many groups."""
    parts = [part for part in entry.path.strip("/").split("/") if part not in ("api", "v1")]
    return parts[0].removesuffix(".json")


def _operation(entry: Operation, schemas: Mapping[str, Any]) -> Document:
    body, about = entry.taken.body_type, HTTPStatus(entry.status).phrase
    headers = [*entry.taken.headers.values(), *([] if entry.method == "GET" else ["Idempotency-Key"])]
    is_json = entry.content_type == "application/json"
    content = {entry.content_type: {"schema": schemas[repr(entry.result)] if is_json else {"type": "string"}}}
    if entry.is_stream:
        headers = ["Last-Event-ID"]
        about = "Events (SSE): each has a kind, an id, and JSON as its data."
    found: Document = {
        "operationId": entry.name,
        "tags": [_tag(entry)],
        "summary": entry.summary,
        "description": getdoc(entry.function) or "",
        "parameters": [*_parameters(entry), *map(_header, headers)],
        "responses": {
            str(int(entry.status)): {"description": about, "content": content},
            **_others(entry, content, schemas, has_body=body is not None),
        },
    }
    if body is not None:
        sent = {"application/json": {"schema": schemas[repr(body)]}}
        found["requestBody"] = {"required": _is_needed(body), "content": sent}
    return found


def _is_needed(body: Any) -> bool:
    """True if a body has a field that must be given."""
    return any(each.required for each in msgspec.structs.fields(body))


def _others(entry: Operation, content: Document, schemas: Mapping[str, Any], *, has_body: bool) -> Document:
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


def _parameters(entry: Operation) -> list[Document]:
    params = entry.taken.params
    (_,), components = msgspec.json.schema_components([params], ref_template=_REFS)
    schema = components[params.__name__]
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


_MODULES = (server, search, notes, history, runs, needs, agents_own, sync, proactive, triggers, profile_files)
_FOUND = (each for module in _MODULES for each in vars(module).values() if isinstance(each, Routes))
_ALL = tuple(entry for routes in _FOUND if routes is not server.PORTS for entry in routes.entries)
TABLE = (*_ALL, openapi_operation(_ALL))
SOCKET_TABLE = (*server.PORTS.entries, *pairings.ROUTES.entries)
