"""The MCP servers of the settings for the runs of this process: each is started once, however many runs use it."""

from functools import partial
from threading import Lock
from urllib.parse import urlsplit

from agent.config.addresses import keys_in
from agent.config.secrets import Secret, reveal
from agent.config.servers import ServerConfig, parse_servers
from agent.errors import ConfigError
from agent.llm.endpoint import is_public, is_this_machine
from agent.runs.reach import keep_only, note_reach
from agent.texts import Sentence
from agent.tools.builtin.servers.link import ServerLink
from agent.tools.builtin.servers.session import Launch, ServerSession
from agent.workspace.workspace import Workspace

FOLDER = "servers"
"""The folder in the cache with what is known of the servers' tools."""
_LINKS: dict[tuple[str, str], ServerLink] = {}
_TURN = Lock()


def server_configs(workspace: Workspace) -> tuple[ServerConfig, ...]:
    """The servers of the settings; raises `ConfigError` for settings that cannot be read."""
    return parse_servers(workspace.settings.tools.servers)


def server_links(workspace: Workspace) -> list[ServerLink]:
    """The servers of the settings; those that are not among them any more are ended. Raises `ConfigError`."""
    configs, vault = server_configs(workspace), workspace.vault.id
    keep_only(workspace, "server", {each.name for each in configs})
    with _TURN:
        wanted = {(vault, each.name): each for each in configs}
        for key, link in list(_LINKS.items()):
            if key[0] == vault and (key not in wanted or wanted[key] != link.config):
                _LINKS.pop(key).session.close()
        links = [_LINKS.get(key) or _LINKS.setdefault(key, _link(workspace, each)) for key, each in wanted.items()]
        for link in links:
            link.beside = links
        return links


def _link(workspace: Workspace, config: ServerConfig) -> ServerLink:
    session = ServerSession(config, partial(_launch, workspace, config))
    known, tell = workspace.vault.known, partial(note_reach, workspace, "server", config.name)
    link = ServerLink(
        session,
        workspace.vault.clock,
        workspace.cache / FOLDER / f"{config.name}.json",
        lambda: known.values,
        tell,
    )
    session.listed = link.take
    return link


def _launch(workspace: Workspace, config: ServerConfig) -> Launch:
    """The way to start the server; its secrets are masked from now on in all that is written and shown.

    Raises `MissingKey` for a secret that is not there, `ConfigError` for an address to which none may be sent.
    """
    environment = {name: _value(workspace, each) for name, each in config.environment.items()}
    headers = {name: _value(workspace, each) for name, each in config.headers.items()}
    if config.token:
        headers["Authorization"] = f"Bearer {_value(workspace, config.token)}"
    _check_open(config, has_secrets=bool(headers))
    return Launch(environment, headers)


def _value(workspace: Workspace, written: str) -> str:
    secret = Secret(written)
    if secret.is_literal or not written:
        return written
    found = reveal(secret)
    workspace.vault.known.learn([found])
    return found


def _check_open(config: ServerConfig, *, has_secrets: bool) -> None:
    """Raise `ConfigError` for a connection without TLS over which others could read along."""
    address = urlsplit(config.url)
    if address.scheme != "http" or is_this_machine(address.hostname or ""):
        return
    if has_secrets or any(keys_in(config.url)) or is_public(config.url):
        raise ConfigError(Sentence("{host} has no TLS, so others could read along: use https", host=config.place))
