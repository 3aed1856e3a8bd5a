"""The composition root: reads configuration and builds the parts; one module for each set that is used together."""
