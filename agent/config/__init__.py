"""Settings as nested frozen dataclasses. Only `app` and the command line load them; nobody else reads a file."""
