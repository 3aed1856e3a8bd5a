"""Low-level git: a safe command runner, objects, locks, commits. The caller chooses the content."""
