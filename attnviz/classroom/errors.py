"""Refusals of a class, each with one sentence for the page."""


class ClassroomError(ValueError):
    """A request that a class refuses."""


class ClassGoneError(ClassroomError):
    """The class or the member does not exist, or no longer: a page may forget its token."""


class StoreError(ClassroomError):
    """The database is busy, full or away. Nothing was saved by this call, and the same call may be made again."""
