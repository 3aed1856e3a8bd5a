"""The origin of text, by history: text written on this machine, and text that arrived from elsewhere.

This package only records. Callers decide on the effects (whether a run is tainted, whether a tick counts).
"""
