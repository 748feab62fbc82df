"""What a class refuses, each with one sentence that can be shown as it is."""


class ClassroomError(ValueError):
    """Something that a class cannot do as it was asked."""


class ClassGoneError(ClassroomError):
    """There is no such class or member, or there is none any more: a page may forget the token that it holds."""


class StoreError(ClassroomError):
    """The database is busy, full or away. Nothing was saved by this call, and the same call may be made again."""
