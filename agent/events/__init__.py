"""What has happened, as values, and the bus that tells it: knows nothing of who publishes and who listens."""
