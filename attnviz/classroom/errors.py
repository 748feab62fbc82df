"""Errors of a class. The message of each is one sentence for the page."""


class ClassroomError(ValueError):
    """Raised for a request that a class refuses."""


class ClassGoneError(ClassroomError):
    """Raised if the class or the member does not exist, or no longer exists. A page may delete its token then."""


class StoreError(ClassroomError):
    """Raised if the database is busy, full or unreachable. Nothing was saved, and the caller may try again."""
