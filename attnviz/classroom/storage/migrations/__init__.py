"""Alembic's environment for the database of classes."""
