"""Language models behind an OpenAI-compatible server."""
