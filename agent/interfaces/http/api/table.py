"""All operations and streams of the API; a group that is not here does not exist."""

from agent.interfaces.http.api import changes, decisions, health, history, notes, ports, runs, search, sessions
from agent.interfaces.http.openapi import openapi_operation

_ALL = (
    *health.OPERATIONS,
    *search.OPERATIONS,
    *notes.OPERATIONS,
    *history.OPERATIONS,
    *runs.OPERATIONS,
    *runs.STREAMS,
    *sessions.OPERATIONS,
    *decisions.OPERATIONS,
    *changes.STREAMS,
    *ports.STREAMS,
)
TABLE = (*_ALL, openapi_operation(_ALL))
