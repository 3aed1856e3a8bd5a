"""One suite for each seam, which every implementation must pass."""
