"""All operations and streams of the API; a group that is not here does not exist."""

from agent.interfaces.http.api import changes, health, history, notes, ports, search

TABLE = (
    *health.OPERATIONS,
    *search.OPERATIONS,
    *notes.OPERATIONS,
    *history.OPERATIONS,
    *changes.STREAMS,
    *ports.STREAMS,
)
