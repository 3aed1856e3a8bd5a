"""What happens by itself in the daemon: one pool of work, and its clients. Nothing here watches files or knows the
bus."""
