"""Figures counted from events, one file a day. Nothing else depends on them."""
