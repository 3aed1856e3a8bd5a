"""Memory: entries in `entries/`, MEMORY.md and the daily notes. Transactions and history are left to `vault`."""
