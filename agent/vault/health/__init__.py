"""How a vault stands and what could harm it: status, probes, repairs, the audit of what could execute."""
