"""All operations and streams of the API; a group that is not here does not exist.

`SOCKET_TABLE` is for the program itself: it is served on the daemon's Unix socket and on no port.
"""

from agent.interfaces.http.api import (
    browsers,
    changes,
    decisions,
    graph,
    health,
    history,
    inbox,
    jobs,
    memories,
    notes,
    notices,
    pairings,
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
from agent.interfaces.http.operation import Routes

_MODULES = (
    health, search, notes, history, runs, sessions, decisions, memories, jobs, skills, notices, inbox, sync, graph,
    proactive, tasks, triggers, profile_files, browsers, changes,
)  # fmt: skip
_ROUTES = (each for module in _MODULES for each in vars(module).values() if isinstance(each, Routes))
_ALL = tuple(entry for routes in _ROUTES for entry in routes.entries)
TABLE = (*_ALL, openapi_operation(_ALL))
SOCKET_TABLE = (*ports.ROUTES.entries, *pairings.ROUTES.entries)
