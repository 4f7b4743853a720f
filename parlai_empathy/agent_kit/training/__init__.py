"""What a training step needs: its number, random draws, a learning rate, an optimiser, and an end where the loss is no
number.
"""
