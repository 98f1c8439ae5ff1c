"""Isola as a sandbox of Inspect AI: ``sandbox="isola"``."""

from ._environment import IsolaSandboxEnvironment

__all__ = ["IsolaSandboxEnvironment"]
