"""Interfaces for other programs: HTTP on the loopback, MCP for agents; thin, the same calls of the brain."""
