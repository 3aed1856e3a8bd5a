"""Programs on this machine as models; fakes answer as the real ones are documented to, and as they did here."""
