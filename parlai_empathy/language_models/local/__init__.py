"""Language models on this computer, as Hugging Face keeps them."""
