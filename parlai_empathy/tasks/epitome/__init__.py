"""EPITOME: how empathetic replies are, by three mechanisms, and the words that show it. See README.md here."""
