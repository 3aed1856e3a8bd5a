"""A vault on a machine of its own, for commands."""

from tests.interfaces.cli.conftest import root

__all__ = ["root"]
