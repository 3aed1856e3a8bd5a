"""A slow machine must not fail a law: generated examples have no time limit."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
