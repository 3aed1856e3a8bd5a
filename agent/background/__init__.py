"""The daemon's own work: one pool, and its clients. Nothing here watches files or knows the bus."""
