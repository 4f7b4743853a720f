"""Language models that continue a text or answer a chat: on this computer, behind a server, or none at all (echo)."""
