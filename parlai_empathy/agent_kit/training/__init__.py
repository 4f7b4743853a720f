"""What a training step needs: update count, random draws, learning rate, optimiser, and a check for a finite loss."""
