"""The database of classes and its migrations. SQLAlchemy and Alembic are used here."""
