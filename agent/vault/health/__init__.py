"""The health of a vault: status, probes, repairs, the audit of settings that could run commands."""
