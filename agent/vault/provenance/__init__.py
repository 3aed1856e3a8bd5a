"""The origin of text, by history: text written on this machine, and text that arrived from elsewhere.

Records only. What follows from it (whether a run is tainted, whether a tick counts) is decided by whoever asks.
"""
