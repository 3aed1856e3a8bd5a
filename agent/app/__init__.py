"""The composition root: builds the agent and the daemon's parts for one vault, and connects their handlers.

Everything is built once and given what it needs; nothing is changed afterwards.
"""
