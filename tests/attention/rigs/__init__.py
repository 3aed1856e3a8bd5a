"""A rig for each channel: the channel, and a local server that speaks the service's real protocol."""
