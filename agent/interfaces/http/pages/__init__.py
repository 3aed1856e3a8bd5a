"""The dashboard: pages made on the server over the same functions as the API. No build, nothing from elsewhere."""
