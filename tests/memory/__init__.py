"""Memory entries."""
