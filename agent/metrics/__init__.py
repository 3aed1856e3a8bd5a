"""Metrics counted from events, one file per day. No other behaviour depends on them."""
