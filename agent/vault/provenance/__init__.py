"""Where text comes from, by history: what was typed or written on this machine, and what arrived from elsewhere.

Records only. What follows from it (whether a run is tainted, whether a tick counts) is decided by whoever asks.
"""
