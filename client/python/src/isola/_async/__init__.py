"""The asynchronous client. tools/generate_sync.py makes the synchronous one from it."""
