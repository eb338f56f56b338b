"""The nouns: one frozen type each, and nothing else. This package imports nothing of webdyno's outside itself.

Glossary: docs/concepts.md. Every name here is the one word for its thing in code, command line, documents and output.
"""
