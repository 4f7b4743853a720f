"""Empathetic and engaging dialogue for ParlAI.

Importing this package loads nothing else: ParlAI, torch and the rest are imported by the modules that use them.
"""

__version__ = "0.1.0"
