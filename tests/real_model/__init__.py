"""A real, tiny model behind a real server: the wire and the plumbing are tried on it, not its wits."""
