"""Our node host keeps the contract of node hosts."""

from tests.contracts.node_host import *  # noqa: F403 - the suite has its own name, since it is run against others, too
