"""All operations and streams of the API; a group that is not here does not exist."""

from agent.interfaces.http.api import changes, health, ports

TABLE = (*health.OPERATIONS, *changes.STREAMS, *ports.STREAMS)
