"""The health of a vault: status, checks, repairs, and an audit of settings that could run commands."""
