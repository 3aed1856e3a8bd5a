"""Learns from what the person changes in text that the agent wrote: style, corrections, preferences; changes no line of
a person's."""
