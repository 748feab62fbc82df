"""Alembic's environment: it runs the migrations on the connection, and in the transaction, of
`attnviz.classroom.storage.store`.
"""

from alembic import context

from attnviz.classroom.storage.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    transactional_ddl=True,
)
context.run_migrations()
