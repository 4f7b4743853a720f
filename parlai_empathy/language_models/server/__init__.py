"""Language models behind a server that speaks OpenAI's protocol."""
