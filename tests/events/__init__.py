"""What the bus owes to those who publish and to those who listen."""
