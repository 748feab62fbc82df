"""Bounded caches of models and traces, which all visitors share.

Torch is imported when the first model is asked for, after the page's input has been drawn.
"""

import gc
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.app import hosting, offered_models
from attnviz.app.cache import bounded, budget, engine, threads, toys
from attnviz.app.cache.bounded import BoundedCache
from attnviz.app.request import Request
from attnviz.models import chat, local_paths, towers
from attnviz.models.catalogue import Entry, Progress, entries
from attnviz.models.inputs import Inputs
from attnviz.text.conversation import Turn
from attnviz.text.limits import MOST_TOKENS, cut_notes, cuts_are_shown

if TYPE_CHECKING:
    from attnviz.models.protocol import Model
    from attnviz.tracing.causes.intervention import Intervention, MeanContexts
    from attnviz.tracing.trace import Trace

LIMIT_VARIABLE, _LARGEST_LIMIT = "ATTNVIZ_MAX_TOKENS", 1_000_000
chat.RENDERED.most = budget.bytes_for("conversations")
_SENTENCE = 60  # characters of a sentence that means are measured on
_means: "BoundedCache[tuple[str, str], MeanContexts]" = BoundedCache(most=32)  # some ten to some hundred kilobytes each
bounded.count_in(chat.RENDERED)

_Version = tuple[str, local_paths.Stamp]  # a name, and what its folder looked like: written anew, it is another model


def model(name: str, progress: Progress | None = None) -> "Model":
    """Return a model, loaded once for all visitors. `name` is in the catalogue, or a checkpoint's folder or hub id.

    `progress(share, what)` reports how much of a checkpoint is loaded. Raises ValueError, with a message of one
    sentence, for a model that cannot be opened or that this instance does not offer.
    """
    if _is_shipped(name):
        return _shipped.get(name)
    if (held := offered_models.find_in_memory(name)) is not None:
        return held
    offered_models.require(name)
    asked = name, () if engine.has(name) else local_paths.stamp(towers.whole_name(name))
    _others.forget(lambda other: other[0] == name and other != asked)
    return _others.get(asked, progress)


def inputs(entry: Entry, progress: Progress | None = None) -> Inputs:
    """Return which inputs a model takes. A model that is not shipped is loaded first, and reports to `progress`.

    Raises ValueError as `model` does.
    """
    return Inputs.TRANSLATION if _is_shipped(entry.name) else model(entry.name, progress).inputs


def has_text_tower(entry: Entry) -> bool:
    """Whether a model is the vision tower of a checkpoint that has a text tower, too."""
    return not _is_shipped(entry.name) and getattr(model(entry.name), "has_text_tower", False)


def _is_shipped(name: str) -> bool:
    return any(entry.name == name for entry in entries())


def _load_shipped(name: str, _: Progress | None) -> "Model":
    with st.spinner("Loading the model …"):
        threads.prepare()
        from attnviz.models.catalogue import translator

        loaded = engine.on_engine(translator(name))
        loaded.translate(
            "Hello.", to=loaded.languages[0]
        )  # the first run allocates and compiles: no visitor waits for it
    gc.collect()
    gc.freeze()  # what exists now lives as long as the server: later collections skip it
    return loaded


_shipped: "BoundedCache[str, Model]" = BoundedCache(_load_shipped, most=2)


def _read(asked: _Version, progress: Progress | None) -> "Model":
    name, _ = asked
    offered_models.require(name)  # the last place before the disk and the hub
    threads.prepare()
    if toys.is_toy(name):
        return toys.toy(name)
    if engine.has(name):
        return engine.model(name)
    from attnviz.models.catalogue import load

    return load(name, progress=progress)


# Not a cache of Streamlit's, which would keep the visitor's progress bar together with the model.
_others: "BoundedCache[_Version, Model]" = BoundedCache(_read, most=2)


def run(
    loaded: "Model", src: str, *, to: str = "", tgt: str = "", new: int = 0,
    interventions: "Sequence[Intervention]" = (), messages: Sequence[Turn] = (), **kept: bool,
) -> "Trace":  # fmt: skip
    """Run a model on the typed texts, whichever inputs the model takes, and return the trace.

    `messages` is a conversation that replaces `src`; if its last turn is the assistant's, no reply is written. `kept`
    says which tensors a checkpoint's trace keeps (`keep_logits=False` and so on). Raises ValueError, with a message of
    one sentence, for a text that the model refuses.
    """
    limit = most_tokens()
    with cuts_are_shown():
        found = _run(loaded, src, to, tgt, new, messages, {**kept, "interventions": interventions, "max_tokens": limit})
    return _say_whose_limit(found, limit)


def _run(
    loaded: "Model", src: str, to: str, tgt: str, new: int, messages: Sequence[Turn], how: dict[str, Any]
) -> "Trace":
    if loaded.inputs.is_image:
        from attnviz.app.frame.image_field import read_named_image

        return loaded.trace(read_named_image(src), hidden=how.get("hidden", True), interventions=how["interventions"])
    if messages:
        chat.require(loaded)
        said = [turn.as_message for turn in messages]
        return loaded.trace(messages=said, new_tokens=chat.reply_tokens(messages, new), **how)
    if loaded.inputs.has_language:
        return loaded.trace(src, to=to, tgt_text=tgt or None, interventions=how["interventions"])
    if loaded.inputs.takes_target:
        language = {"to": to} if loaded.languages else {}
        return loaded.trace(src, tgt_text=tgt or None, **language, **how)
    if loaded.inputs.is_pair:
        return loaded.trace(src, tgt if tgt.strip() else None, **how)
    return loaded.trace(src, new_tokens=new, **how)


def most_tokens() -> int:
    """Return how many tokens of a text the dashboard reads: ATTNVIZ_MAX_TOKENS, or 1,024. Raises ValueError if the
    variable is not a number.
    """
    said = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not said:
        return MOST_TOKENS
    if not said.isdecimal() or not 1 <= int(said) <= _LARGEST_LIMIT:
        raise ValueError(
            f"{LIMIT_VARIABLE}={said[:40]!r} is not a number of tokens. Please set it to a number up "
            f"to {_LARGEST_LIMIT:,}."
        )
    return int(said)


def _say_whose_limit(found: "Trace", limit: int) -> "Trace":
    """Add a note if the dashboard's own limit, and not the model's, truncated a text."""
    at_limit = any(
        max(len(each.src), sum(not token.segment for token in each.tgt)) >= limit for each in found.sentences
    )
    if not at_limit or not cut_notes(found.info.notes):
        return found
    note = f"This dashboard reads up to {limit:,} tokens ({LIMIT_VARIABLE})."
    return replace(found, info=replace(found.info, notes=(*found.info.notes, note)))


_Asked = tuple[str, str, str, str, str, int, str, tuple[Turn, ...], str, bool]


def _trace_request(asked: _Asked, progress: Progress | None) -> "Trace":
    name, _, src, to, tgt, new, do, messages, _, whole = asked
    with threads.enough_for(max(len(src), len(tgt), sum(len(turn.content) for turn in messages))):
        loaded, kept = model(name), {"logits": whole, "hidden": whole}

        def run_trace(interventions: "Sequence[Intervention]") -> "Trace":
            return run(loaded, src, to=to, tgt=tgt, new=new, interventions=interventions, messages=messages, **kept)

        if not do:
            return run_trace(())
        from attnviz.tracing.causes import notation

        wanted = with_means(loaded, notation.parse(do).interventions, to)
        return _trace_what_fits(loaded, run_trace, wanted, is_given=bool(tgt.strip()))


def _trace_what_fits(
    loaded: "Model", traced: "Callable[..., Trace]", asked: "Sequence[Intervention]", *, is_given: bool
) -> "Trace":
    """Trace with the interventions that fit this sentence. Notes name those that were left out, and why."""
    from attnviz.tracing.causes import resolution

    try:
        return traced(asked)
    except ValueError:
        plain = traced(())  # where the text itself is refused, with the sentence that says so
    sentence = plain.sentences[0]
    open_target = loaded.inputs.takes_target and not is_given
    found = resolution.split_by_fit(
        asked, loaded.shapes, loaded.model_id, resolution.drop_target(sentence) if open_target else sentence
    )
    try:
        made, notes = (traced(found.kept) if found.kept else plain), found.notes
    except ValueError as why:  # a model that takes none
        made, notes = plain, (str(why),)
    return replace(made, info=replace(made.info, notes=(*made.info.notes, *notes)))


# By size, and not by number: a sentence's trace takes a megabyte, that of a long prompt may take hundreds.
_traces: "BoundedCache[_Asked, Trace]" = BoundedCache(
    _trace_request, most=budget.bytes_for("traces"), size=lambda trace: trace.nbytes()
)


def trace(request: Request) -> "Trace":
    """Return the trace of a request, cached if it was made before. Raises ValueError as `run` does."""
    return _traces.get(_cache_key(request))


def is_cached(request: Request) -> bool:
    """Whether the model and the trace of a request are both cached."""
    name = request.entry.name
    is_loaded = (
        name in _shipped or name in offered_models.names_in_memory() or any(name == other for other, _ in _others.names)
    )
    return is_loaded and _cache_key(request) in _traces


def full_trace(request: Request) -> "Trace":
    """Return the trace of a request for a page that needs queries, keys and values.

    Raises ValueError as `trace` does, and for a model that returns only weights, with the reason from its trace.
    """
    found = trace(request)
    if found.weights_only:
        raise ValueError(found.missing_reason)
    return found


def attention(request: Request) -> "Trace":
    """Return a trace for a picture that shows attention alone, without a checkpoint's logits and hidden states.

    Leaving these out saves half the time of a long pass and two thirds of its memory. A complete trace that is already
    cached is returned as it is.
    """
    whole = _cache_key(request)
    return _traces.get(whole if whole in _traces or _is_shipped(request.entry.name) else (*whole[:-1], False))


def _cache_key(request: Request) -> _Asked:
    weights = model(request.entry.name).model_id
    texts = request.image or request.src, request.to, request.tgt, request.new, request.do, request.messages
    day = date.today().isoformat() if request.messages else ""  # a chat template may write the date
    return request.entry.name, weights, *texts, day, True


def measured_means(loaded: "Model", to: str, progress: Progress | None = None) -> "MeanContexts":
    """Measure the mean context of each head of a model over the example sentences, translated into the language `to`.

    Reports to `progress`. Raises ValueError if the model cannot read the example sentences.
    """
    return _means.get((loaded.model_id, to), progress, read=lambda _, tell: _measure(loaded, to, tell))


def with_means(
    loaded: "Model", asked: "Sequence[Intervention]", to: str, progress: Progress | None = None
) -> "tuple[Intervention, ...]":
    """Return the interventions with the measured means filled in that they use.

    Raises ValueError as `measured_means`.
    """
    if not any(each.is_unmeasured for each in asked):
        return tuple(asked)
    from attnviz.analysis.means import fill_means as put

    return put(asked, measured_means(loaded, to, progress))


def _measure(loaded: "Model", to: str, progress: Progress | None) -> "MeanContexts":
    from attnviz.analysis.cancellable import Cancellable
    from attnviz.analysis.means import reference_means

    place = st.empty()

    def tell(done: int, total: int) -> None:
        if progress is not None:
            progress(done / total, f"Measuring the heads' average outputs: {done} of {total} sentences")
        hosting.give_way(place)

    with threads.enough_for(_SENTENCE):
        return reference_means(loaded, to, stop=Cancellable(tell))
