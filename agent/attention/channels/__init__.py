"""The channels through which messages reach the person, and those through which the person writes back.

A module per service, behind the Protocols in `channel`. A channel sends and receives; when it does, and what follows
from what came in, is left to others.
"""
