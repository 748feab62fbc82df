"""What is asked of a trace, checked: what it does not have is refused in a sentence."""

from typing import TypeVar

from torch import Tensor

Choice = TypeVar("Choice")


def checked(value: object, name: str, allowed: tuple[Choice, ...]) -> Choice:
    """`value`, which is one of `allowed`. Raises ValueError where it is not."""
    for choice in allowed:
        if choice == value:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, not {value!r}.")


def counted(value: int, count: int, name: str, those_there_are: str) -> int:
    """`value`, which is 0 or more and below `count`. Raises ValueError where it is not."""
    if not 0 <= value < count:
        raise ValueError(f"There is no {name} {value}: {those_there_are} 0 to {count - 1}.")
    return value


def present(tensor: Tensor | None, name: str) -> Tensor:
    """The tensor, which is there. Raises ValueError where it is None."""
    if tensor is None:
        raise ValueError(f"This trace was built without {name}; views that need it cannot be shown.")
    return tensor
