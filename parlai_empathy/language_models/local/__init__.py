"""Local language models in Hugging Face's format."""
