"""Check and convert the arguments of public functions by their annotations, so that a wrong one gets a clear error.

A value with only one possible meaning is accepted: a single item for a list, another library's integer for Python's,
and None for an argument with a default.
"""

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from numbers import Real
from types import FunctionType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

Target = TypeVar("Target", bound=Callable[..., Any])
# Our classes in plain words, with the function that makes them.
_KNOWN = {
    "Trace": "a trace (what a model's trace method returns)",
    "TraceLike": "a trace (what a model's trace method or attnviz.from_tensors returns)",
    "BareWeights": "a trace of weights (what attnviz.from_tensors returns)",
    "Recording": "a recording (what attnviz.learn returns)",
    "TranslatorRecording": "a recording of a translator's training",
    "Intervention": "what attnviz.ablate, patch, edit or exchange returns",
    "MeanContexts": "what attnviz.mean_contexts returns",
    "Model": "a model (what attnviz.load returns)",
    "Path": "a path",
    "Tensor": "a tensor",
}
ONLY_VISION = "Only vision models, such as ViT, read images."
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_WRITTEN_BY_REPR = (str, int, float, bool, bytes, type(None))


def reads_arguments(target: Target) -> Target:
    """Decorate a function, or all public methods of a class, to check and convert arguments by their annotations.

    A call raises ValueError, with a message of one sentence that names the argument, if a value does not fit.
    """
    if not isinstance(target, type):
        return _read_arguments(target)
    for name, method in list(vars(target).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(target, name, _read_arguments(method))
    return target  # type: ignore[return-value]  # the class that was given


def _read_arguments(function: Any) -> Any:
    forms: dict[str, tuple[_Form, Any]] = {}
    names: list[str] = []

    @wraps(function)
    def read(*given: Any, **named: Any) -> Any:
        if not names:  # at the first call: an annotation may be defined further down
            forms.update(_forms(function))
            names.extend(inspect.signature(function).parameters)
        taken = [_read_argument(name, value, forms) for name, value in zip(names, given, strict=False)]
        rest = {name: _read_argument(name, value, forms) for name, value in named.items()}
        return function(*taken, *given[len(taken) :], **rest)

    return read


class _UnfitError(Exception):
    """A value does not fit an annotation."""


@dataclass(frozen=True)
class _Form:
    """An annotation in words, and a function that converts a value to it or raises _UnfitError."""

    says: str
    read: Callable[[Any], Any]
    many: str = ""


def _forms(function: Any) -> dict[str, tuple[_Form, Any]]:
    """Return the form and the default of each argument whose annotation can be checked."""
    own, found = inspect.unwrap(function).__globals__, {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in _VARIABLE and parameter.annotation is not parameter.empty:
            form = _form(parameter.annotation, own)
            found |= {} if form is None else {name: (form, parameter.default)}
    return found


def _read_argument(name: str, value: Any, forms: Mapping[str, tuple[_Form, Any]]) -> Any:
    if name not in forms:
        return value
    form, default = forms[name]
    try:
        return form.read(value)
    except _UnfitError:
        if value is None and default is not inspect.Parameter.empty:
            return default
        more = f" {ONLY_VISION}" if "text" in form.says and is_like_image(value) else ""
        raise ValueError(f"{name} is {form.says}, not {describe(value)}.{more}") from None


def is_like_image(value: object) -> bool:
    """Check whether a value is an image of Pillow or an array `(height, width, channels)`."""
    shape = getattr(value, "shape", ())
    return type(value).__module__.startswith("PIL.") or (isinstance(shape, tuple) and len(shape) == 3)


def describe(value: object) -> str:
    """Describe a value in a few words for an error message."""
    try:
        if isinstance(value, _WRITTEN_BY_REPR):
            return f"{value!r:.60}"
    except ValueError:  # Python refuses to print integers of several thousand digits
        return "a number of many digits"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _form(annotation: Any, own: Mapping[str, Any]) -> "_Form | None":
    """Return the form of an annotation, or None if the annotation allows anything or cannot be checked."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, dict(own))
        except NameError:  # a name that is imported only for type checkers
            return None
    if annotation is Any or annotation in _SIMPLE:
        return _SIMPLE.get(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _Form(f"one of {', '.join(map(str, arguments))}", lambda value: _one_of(value, arguments))
    if origin is Callable:
        return _Form("a function", _accept_if(callable))
    if origin is None:
        is_class = isinstance(annotation, type) and annotation.__module__ != "jaxtyping"
        return _instance(annotation) if is_class else None
    return _generic_form(origin, [_form(each, own) for each in arguments])


def _generic_form(origin: Any, parts: list["_Form | None"]) -> "_Form | None":
    """Return the form of a union or a list, or None for other generic types."""
    if origin in (Union, UnionType):
        return _either_form(parts)
    if origin in (Sequence, Iterable, list):  # a lazy Iterable is checked where it is used
        return _list_form(parts[0], is_lazy=origin is Iterable)
    return None


def _either_form(forms: list["_Form | None"]) -> "_Form | None":
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        return None

    def read(value: Any) -> Any:
        for form in known:
            try:
                return form.read(value)
            except _UnfitError:
                continue
        raise _UnfitError

    choices = [form.says for form in known if form.says.startswith("one of ")]
    said = choices or [form.says for form in known if form.says != "None"]
    return _Form(" or ".join(dict.fromkeys(said)), read)


def _list_form(item: "_Form | None", *, is_lazy: bool = False) -> _Form:
    """Return the form of a list, which also accepts a single item."""

    def read(value: Any) -> Any:
        is_one = isinstance(value, str | bytes | Mapping) or not _is_iterable(value)
        if is_one:
            return [_unfit() if item is None else item.read(value)]
        if item is None or (is_lazy and isinstance(value, Iterator)):
            return value
        taken = [item.read(each) for each in value]
        unchanged = isinstance(value, list | tuple) and all(mine is own for mine, own in zip(taken, value, strict=True))
        return value if unchanged else taken

    return _Form("a list" if item is None else f"a list of {item.many or item.says}", read)


def _is_iterable(value: Any) -> bool:
    try:
        iter(value)
    except TypeError:
        return False
    return True


def _instance(kind: type) -> _Form:
    name = kind.__name__
    says = _KNOWN.get(name, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
    if getattr(kind, "_is_protocol", False):  # looked up statically, because a property may be expensive
        asked = [each for each in vars(kind) if not each.startswith("_")]
        return _Form(says, _accept_if(lambda value: all(inspect.getattr_static(value, each, _unfit) is not _unfit
                                                 for each in asked)))  # fmt: skip
    allowed = os.PathLike if name == "Path" else kind
    return _Form(says, _accept_if(lambda value: isinstance(value, allowed)), says)


def _accept_if(fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    return lambda value: value if fits(value) else _unfit()


def _unfit() -> NoReturn:
    raise _UnfitError


def _one_of(value: Any, choices: tuple[Any, ...]) -> Any:
    return next((each for each in choices if type(each) is type(value) and each == value), None) or _unfit()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _unfit()


def _whole_form(value: Any) -> int:
    if isinstance(value, bool):
        _unfit()
    try:
        return operator.index(value)
    except TypeError:
        _unfit()


def _flag(value: Any) -> bool:
    if isinstance(value, bool | int) or type(value).__name__ in ("bool", "bool_"):  # NumPy's
        return bool(value) if value in (0, 1) else _unfit()
    _unfit()


_SIMPLE: dict[Any, _Form] = {
    str: _Form("one text", _text, "texts"),
    int: _Form("a whole number", _whole_form, "whole numbers"),
    float: _Form(
        "a number", _accept_if(lambda value: isinstance(value, Real) and not isinstance(value, bool)), "numbers"
    ),
    bool: _Form("True or False", _flag),
    None: _Form("None", _accept_if(lambda value: value is None)),
    type(None): _Form("None", _accept_if(lambda value: value is None)),
}
