"""`python -m tests.models.huggingface.table`: go through the catalogue of families and write docs/models.md.

A test holds the table against the same rows (`test_families.py`); the largest difference alone may move with rounding.
"""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

import attnviz
from attnviz.analysis.site.projections import NotPlain, projections
from attnviz.models.huggingface import ModelError
from attnviz.models.huggingface.files.folder import TOKENIZERS
from attnviz.tracing.interventions import MaskOverride
from attnviz.transformer.probe import Site
from tests.models.huggingface import architectures
from tests.models.huggingface.families import FAMILIES, Builder

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"
# Of those that transformers' own classes feed as attnviz does; their tokenizers are of the tests' own making.
FURTHER = {
    name: build for name, build in architectures.ALL.items() if name not in architectures.SHOWN or name in (
        "t5_encoder", "bert_generation_decoder", "gemma3_text", "gemma3n_text", "falcon_h1", "t5gemma", "switch",
    )
}  # fmt: skip
SECTIONS: dict[str, dict[str, Builder]] = {"Families": FAMILIES, "Further architectures": FURTHER}
TEXT, TARGET = "The quick brown fox jumps over the dog.", "A cat sat on the mat."
_EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
_FILES = (*TOKENIZERS, "merges.txt", "added_tokens.json")

_HEAD = """# Models

Made by `python -m tests.models.huggingface.table`, and held against what is so by `test_families.py` there: not to be
edited by hand. Each row is a small checkpoint with random weights and the tokenizer's files as the family publishes
them (`tests/models/huggingface/families.py`), opened as a visitor opens one. transformers {version}, float32, on a CPU.

- **Shown**: *yes*, with attnviz's attention in the place of the model's own; *weights*, those that transformers
  returns, where nothing can take that place; or the sentence that a visitor reads instead.
- **Difference**: the largest of any weight of any layer, head and row to transformers' eager pass over the same ids.
- **Heads** includes Links and Whole model; **Neuron** takes a weight apart; **Masks** runs the model again with a mask
  in force; **Decoding** follows what it writes; **Anatomy** includes Implementations: a site's projections are W_q,
  W_k, W_v and W_o, found by watching a pass.
"""


@dataclass(frozen=True)
class Row:
    """What was found of a family: why it is not shown ("" where it is), and a mark for each page that can show it."""

    family: str
    model: str
    files: str
    shown: str
    difference: float | None = None
    pages: dict[str, bool] = field(default_factory=dict)

    def says(self) -> tuple[str, ...]:
        """Its cells but for the difference."""
        return (self.family, self.model, self.files, self.shown, *(_mark(self.pages.get(page)) for page in PAGES))

    def line(self) -> str:
        """The row in Markdown."""
        said = self.says()
        return _line((*said[:4], "" if self.difference is None else f"{self.difference:.0e}", *said[4:]))


def row(family: str, folder: Path) -> Row:
    """Open a checkpoint and see what can be shown of it."""
    kind = transformers.AutoConfig.from_pretrained(folder).architectures[0]
    files = [f"`{name}`" for name in _FILES if (folder / name).is_file()] or ["`tokenizer_config.json`"]
    about = (family, kind, ", ".join(files))
    try:
        model: Any = attnviz.load(folder, device="cpu", dtype="float32")
    except ModelError as refusal:
        return Row(*about, f"no: {str(refusal)[0].lower()}{str(refusal)[1:]}")
    trace = traced(model)
    shown = "weights" if hasattr(model, "why") else "yes"
    return Row(*about, shown, difference(folder, kind, trace), {name: can(model, trace) for name, can in PAGES.items()})


def traced(model: Any) -> Any:
    """A sentence that it read; and a target, where it takes one."""
    if model.inputs.takes_target:
        return model.trace(TEXT, tgt_text=TARGET)
    return model.trace(TEXT, new_tokens=0 if model.inputs.is_prompt and model.writes else None)


@torch.inference_mode()
def difference(folder: Path, kind: str, trace: Any) -> float:
    """The largest difference of a weight to the eager attention of the class that the checkpoint names."""
    peer = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in _sides(trace))
    has_both = "cross" in trace.kinds
    fed = {"input_ids": src, "decoder_input_ids": tgt} if has_both else {"input_ids": src if src.numel() else tgt}
    out = peer(**fed, output_attentions=True)
    worst = 0.0
    for name in trace.kinds:
        layers = getattr(out, _EAGER[name] if has_both else "attentions")
        expected = torch.stack([layer[0] for layer in layers if layer is not None])
        worst = max(worst, float((trace.attn(name) - expected).abs().max()))
    return worst


def _sides(trace: Any) -> tuple[Any, Any]:
    return trace.sentences[0].src, trace.sentences[0].tgt_in


def _has_maps(model: Any, trace: Any) -> bool:
    return all(trace.attn(kind).isfinite().all() for kind in trace.kinds)


def _has_queries(model: Any, trace: Any) -> bool:
    try:
        return trace.call(trace.kinds[0], 0).query is not None
    except (AttributeError, KeyError, ValueError):
        return False


def _takes_masks(model: Any, trace: Any) -> bool:
    """Whether a mask that leaves the first key alone is in force where it was asked for."""
    kind = trace.kinds[-1]
    first = MaskOverride([Site(kind, 0)], lambda q_len, k_len: torch.arange(k_len).eq(0).expand(1, q_len, k_len))
    try:
        edited = model.rerun(trace, first).attn(kind, layer=0)
    except ValueError:
        return False
    return bool(edited[..., 1:].abs().max() == 0)


def _steps(model: Any, trace: Any) -> bool:
    try:
        return next(iter(model.stepwise(TEXT))).token is not None
    except ValueError:
        return False


def _comes_apart(model: Any, trace: Any) -> bool:
    if trace.is_bare:
        return False
    try:
        site = Site(trace.kinds[0], 0)
        return not isinstance(projections(model, trace, [site])[site], NotPlain)
    except (AttributeError, KeyError, ValueError):
        return False


PAGES: dict[str, Callable[[Any, Any], bool]] = {
    "Heads": _has_maps, "Neuron": _has_queries, "Masks": _takes_masks, "Decoding": _steps,
    "Anatomy": _comes_apart,
}  # fmt: skip


def document(rows: dict[str, list[Row]]) -> str:
    """The whole file."""
    columns = ("family", "class", "the tokenizer's files", "shown", "difference", *PAGES)
    head = [_line(columns), _line(["---"] * 4 + ["---:"] + [":---:"] * len(PAGES))]
    tables = ["\n".join([f"## {title}\n", *head, *(row.line() for row in found)]) for title, found in rows.items()]
    return "\n".join([_HEAD.format(version=transformers.__version__), *tables]) + "\n"


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _mark(can: bool | None) -> str:
    return "" if can is None else "✓" if can else "–"


def main() -> None:
    """Write docs/models.md."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    rows: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as place:
        for title, families in SECTIONS.items():
            for at, (name, build) in enumerate(families.items()):
                sys.stderr.write(f"{name}\n")
                rows.setdefault(title, []).append(row(name, build(Path(place) / f"{title}-{at}")))
    DOCUMENT.write_text(document(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
