"""The parts that live in other programs."""
