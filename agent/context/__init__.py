"""What is put before a model, and how much of it: sources, budget, assembly, compaction. Calls no model itself."""
