"""All operations and streams of the API; a group that is not here does not exist.

`SOCKET_TABLE` is for the program itself: it is served on the daemon's Unix socket and on no port.
"""

from agent.interfaces.http.api import (
    changes,
    decisions,
    graph,
    health,
    history,
    inbox,
    jobs,
    memories,
    metrics,
    notes,
    notices,
    ports,
    proactive,
    profile_files,
    runs,
    search,
    sessions,
    skills,
    sync,
    tasks,
    triggers,
)
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
    *memories.OPERATIONS,
    *jobs.OPERATIONS,
    *skills.OPERATIONS,
    *notices.OPERATIONS,
    *inbox.OPERATIONS,
    *sync.OPERATIONS,
    *graph.OPERATIONS,
    *metrics.OPERATIONS,
    *proactive.OPERATIONS,
    *tasks.OPERATIONS,
    *triggers.OPERATIONS,
    *profile_files.OPERATIONS,
    *changes.STREAMS,
)
TABLE = (*_ALL, openapi_operation(_ALL))
SOCKET_TABLE = ports.STREAMS
