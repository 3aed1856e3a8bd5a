"""Searches that the daemon does for the servers of other programs (`mcp`), in the index that it has open already."""

import base64
import os
import pickle
from http import HTTPStatus

from agent.errors import AgentError
from agent.interfaces.cli.callers import Callers
from agent.interfaces.http.command_line import SearchAsked, SearchFound, search_operation
from agent.interfaces.http.operation import Operation
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.interfaces.mcp.search_messages import DAEMON_PATH, SearchFailure, SearchQuestion, settings_of
from agent.interfaces.mcp.search_process import Found, find_in
from agent.runs.recall_source import RecallSource, recall_source
from agent.workspace.catch_up import catch_up
from agent.workspace.daemon_socket import program_version


def search_route(callers: Callers) -> Operation:
    """The operation of a daemon that searches with the settings that it was started with."""
    started = (program_version(), settings_of(os.environ))
    opened: list[RecallSource] = []

    def answer(service: Service, asked: SearchAsked) -> SearchFound:
        if (asked.version, asked.environ) != started or not callers.has_same_settings:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to search")
        question = SearchQuestion(asked.text, asked.limit, asked.memories, asked.channel, asked.run)
        with service.index.held() as index:
            if not opened:
                opened.append(recall_source(service.workspace, index))
            found: Found | SearchFailure
            try:
                late = catch_up(service.workspace, index)
                found = find_in(service.workspace, opened[0], question, late)
            except AgentError as error:
                found = SearchFailure(str(error.message), str(error.hint))
        return SearchFound(base64.b64encode(pickle.dumps(found)).decode())

    return search_operation(DAEMON_PATH, answer)
