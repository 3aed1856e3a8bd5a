"""The configuration files of programs that speak MCP: the vault is added, and all else in them stays as it is."""
