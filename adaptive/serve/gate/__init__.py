"""The gate of the pages: which connections, requests and people come in, and by which signatures they are known."""
