"""Reflections: what the agent learns from what it has done, as notes in `reflections/`; begin at `reflection`."""
