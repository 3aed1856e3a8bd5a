"""vault-agent: a personal agent whose whole state is notes in a git-versioned Markdown vault."""
