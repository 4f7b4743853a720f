"""Agents, one per folder: ``-m empathy:<name>`` loads ``<Name>Agent`` from ``<name>/<name>.py``."""
