"""What notes say, and what changing or merging them leaves alone."""
