"""The settings of research: the search engines that it may ask. Part of `settings.Settings`.

None of them may stand in a vault's own file: they name hosts and keys. An engine is used once it is configured, the
first one in the order below; the next one is asked where it fails.
"""

from agent.config.secrets import Secret
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SearxngSettings:
    """An instance of SearXNG, such as one of your own, with `json` among the formats of its settings."""

    base_url: str
    """Its address, such as `http://127.0.0.1:8888`. Default empty: it is not asked."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """A search service that needs a key."""

    base_url: str
    """Its address. Default: the service itself."""

    api_key: Secret
    """The key, by reference: `env:NAME`, `keyring:NAME`, `file:PATH`. Default empty: it is not asked."""


@dataclass(frozen=True, slots=True)
class ResearchSettings:
    """The search engines. What is searched for goes to the first that is configured, and pages are read from here;
    without one, research reads the vault, folders that are named, and pages whose addresses are named."""

    searxng: SearxngSettings
    """Default: off."""

    brave: EngineSettings
    """Brave Search. Default: off."""

    tavily: EngineSettings
    """Tavily. Default: off."""
