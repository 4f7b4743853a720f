"""What a training step needs: random draws, a learning rate, an optimiser, and an end where the loss is no number."""
