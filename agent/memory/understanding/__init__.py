"""What texts say: whether two say the same, contradict each other, which facts a text holds. It reads no vault."""
