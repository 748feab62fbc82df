"""Encode and decode probes for messages to the engine: masks, edits, rounding, and chains of these.

A probe that observes the model's layers, or needs gradients, cannot be sent and raises an error.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import Tensor

from attnviz.analysis.fills import FillChoice, Weighing
from attnviz.tracing.causes.edits import Edit, Edits
from attnviz.tracing.interventions import Chain, MaskOverride
from attnviz.tracing.rounding import Rounding
from attnviz.transformer.probe import Probe, Site

Lengths = Iterable[tuple[int, int]]  # pairs of query and key length
Tensors = dict[str, Tensor]


class CannotTravelError(AttributeError, ValueError):
    """A request needs the model itself, which runs on the engine. As an AttributeError, it makes `hasattr` return
    False.
    """


def describe(probe: Probe | None, lengths: Mapping[str, Lengths], tensors: Tensors) -> dict[str, Any] | None:
    """Encode a probe as JSON types, with its tensors put into `tensors`.

    `lengths` are the query and key lengths, by kind, for which masks are needed. Raises CannotTravelError for a probe
    that cannot be sent.
    """
    if probe is None:
        return None
    if isinstance(probe, Chain):
        return {"type": "chain", "probes": [describe(each, lengths, tensors) for each in probe.probes]}
    if isinstance(probe, Edits):
        return {"type": "edits", "start": probe.start,
                "rows": [[_edit(edit, tensors) for edit in row] for row in probe.rows]}  # fmt: skip
    if isinstance(probe, Rounding):
        state = _store_tensor(probe.generator.get_state(), tensors)
        return {"type": "rounding", "epsilon": probe.epsilon, "state": state}
    if isinstance(probe, MaskOverride) and (probe.weigh is None or isinstance(probe.weigh, Weighing)):
        return _mask(probe, lengths, tensors)
    raise CannotTravelError(
        "This cannot be computed here, because it needs the layers of the model, and the model is on the "
        "engine. Please load the model locally."
    )


def read(said: Mapping[str, Any] | None, tensors: Mapping[str, Tensor]) -> Probe | None:
    """Decode the result of `describe`. Raises ValueError or KeyError for anything else."""
    return None if said is None else _READ[said["type"]](said, tensors)


def is_same(one: Probe | None, other: Probe | None) -> bool:
    """Check whether two probes do the same, regardless of the position at which the run begins."""
    if isinstance(one, Chain) and isinstance(other, Chain):
        pairs = zip(one.probes, other.probes, strict=False)
        return len(one.probes) == len(other.probes) and all(is_same(*pair) for pair in pairs)
    if isinstance(one, Edits) and isinstance(other, Edits):
        return one.rows == other.rows
    if isinstance(one, MaskOverride) and isinstance(other, MaskOverride):
        return one.start_at(0) == other.start_at(0)
    return one is None and other is None


def _store_tensor(tensor: Tensor, tensors: Tensors) -> str:
    name = f"probe.{len(tensors)}"
    tensors[name] = tensor
    return name


def _place(place: Any) -> list[Any]:
    return ["site", place.kind, place.layer] if isinstance(place, Site) else ["stack", *place]


def _read_place(said: list[Any]) -> Any:
    what, name, layer = said
    return Site(name, int(layer)) if what == "site" else (name, int(layer))


def _edit(edit: Edit, tensors: Tensors) -> dict[str, Any]:
    return {
        "place": _place(edit.place), "what": edit.what, "how": edit.how, "heads": edit.heads,
        "positions": edit.positions, "put": None if edit.put is None else _store_tensor(edit.put, tensors),
        "swap": edit.swap,
    }  # fmt: skip


def _read_edit(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Edit:
    put, (one, other) = said["put"], said["swap"]
    numbers = {name: None if said[name] is None else tuple(map(int, said[name])) for name in ("heads", "positions")}
    return Edit(
        _read_place(said["place"]), said["what"], said["how"], **numbers,
        put=None if put is None else tensors[put], swap=(tuple(map(int, one)), tuple(map(int, other))),
    )  # fmt: skip


def _mask(probe: MaskOverride, lengths: Mapping[str, Lengths], tensors: Tensors) -> dict[str, Any]:
    """Encode a mask function as its tables for all lengths that the run will need, because functions cannot be sent."""
    kinds = {site.kind for site in probe.sites}
    wanted = {pair for kind in kinds for pair in lengths[kind]}
    tables = {pair: probe.mask(*pair) for pair in sorted(wanted)}
    return {
        "type": "mask", "sites": [_place(site) for site in sorted(probe.sites)], "head": probe.head,
        "start": probe.start, "weigh": None if probe.weigh is None else asdict(probe.weigh.choice),  # type: ignore[attr-defined]
        "tables": [[*pair, _store_tensor(table, tensors)] for pair, table in tables.items()],
    }  # fmt: skip


def _read_mask(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> MaskOverride:
    tables = {(q_len, k_len): tensors[name] for q_len, k_len, name in said["tables"]}
    weigh = None if said["weigh"] is None else Weighing(FillChoice(**said["weigh"]))
    sites = [_read_place(place) for place in said["sites"]]
    return MaskOverride(sites, _table_lookup(tables), said["head"], int(said["start"]), weigh)


def _table_lookup(tables: Mapping[tuple[int, int], Tensor]) -> Callable[[int, int], Tensor]:
    def mask(q_len: int, k_len: int) -> Tensor:
        if (q_len, k_len) not in tables:
            raise ValueError(f"The mask was sent for other lengths than {q_len} queries and {k_len} keys.")
        return tables[q_len, k_len]

    return mask


def _read_rounding(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Rounding:
    generator = torch.Generator()
    generator.set_state(tensors[said["state"]])
    return Rounding(float(said["epsilon"]), generator)


def _read_edits(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Edits:
    rows = tuple(tuple(_read_edit(edit, tensors) for edit in row) for row in said["rows"])
    return Edits(rows, int(said["start"]))


def _read_chain(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Chain:
    found = [read(each, tensors) for each in said["probes"]]
    return Chain([each for each in found if each is not None])


_READ: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Tensor]], Probe]] = {
    "chain": _read_chain,
    "edits": _read_edits,
    "mask": _read_mask,
    "rounding": _read_rounding,
}
