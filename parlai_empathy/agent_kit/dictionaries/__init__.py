"""What turns texts into token ids: words, or the tokens of a Hugging Face model."""
