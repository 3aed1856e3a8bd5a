"""The composition root: builds the agent and the daemon's parts for one vault, and says in `subscriptions` who hears
what. Everything is built once and given what it needs; nothing is changed afterwards.
"""
