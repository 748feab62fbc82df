"""What attnviz shows of a class of transformers: one row of docs/reference/models.md."""

import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

import attnviz
from attnviz.models.huggingface import ModelError
from tests.models.huggingface.every_class import save_class, text_classes
from tests.models.huggingface.shown import PAGES, TEXT

TARGET = "A cat sat on the mat."
CLOSE = 1e-3
_EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}


@dataclass(frozen=True)
class ClassRow:
    """The findings on a class. `shown` is "yes", "weights", or "no: …" with the sentence that refuses it.

    `difference` is the largest of any weight to transformers' eager pass, `own` that of any output to the class's own
    default pass, as a share of the largest output, `steps` that of the last step's weights to those of one pass.
    None: nothing to compare.
    """

    name: str
    model_type: str
    shown: str
    difference: float | None = None
    own: float | None = None
    steps: float | None = None
    pages: dict[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    said: str = ""


def class_row(name: str) -> ClassRow:
    """Make a checkpoint of a class, open it as a visitor does, and compare it with transformers."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    kind, sort = text_classes()[name]
    about = (name, kind.config_class.model_type)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as place:
        folder = save_class(kind, sort, Path(place) / "model")
        try:
            model: Any = attnviz.load(folder, device="cpu", dtype="float32")
        except ModelError as refusal:
            return ClassRow(*about, f"no: {refusal}")
        trace = make_trace(model)
        pages = {page: can(model, trace) for page, can in PAGES.items()}
        said = []
        difference, own = (
            _try(said, weights_difference, folder, kind, trace),
            _try(said, output_difference, folder, kind, trace),
        )
        steps = _try(said, steps_difference, model, trace) if pages["Decoding"] else None
        shown = "weights" if hasattr(model, "why") else "yes"
        return ClassRow(*about, shown, difference, own, steps, pages, trace.info.notes, "; ".join(said))


def _try(said, function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        said.append(f"{function.__name__}: {type(error).__name__}: {str(error)[:200]}")
        return None


def make_trace(model: Any) -> Any:
    """Trace a sentence, with a target where the model takes one."""
    if model.inputs.takes_target:
        return model.trace(TEXT, tgt_text=TARGET)
    return model.trace(TEXT, new_tokens=0 if model.inputs.is_prompt and model.writes else None)


def fed(trace: Any) -> dict[str, torch.Tensor]:
    """Return the arguments of the pass that a trace shows."""
    sentence = trace.sentences[0]
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in (sentence.src, sentence.tgt_in))
    if "cross" in trace.kinds:
        return {"input_ids": src, "decoder_input_ids": tgt}
    return {"input_ids": src if src.numel() else tgt}


@torch.inference_mode()
def weights_difference(folder: Path, kind: Any, trace: Any) -> float | None:
    """Return the largest difference of a weight to the eager attention of the class; None where it returns none."""
    peer = kind.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    out = peer(**fed(trace), output_attentions=True)
    worst = None
    for name in trace.kinds:
        layers = getattr(out, _EAGER[name] if "cross" in trace.kinds else "attentions", None)
        expected = [layer[0] for layer in layers or () if isinstance(layer, torch.Tensor)]
        if expected:
            worst = max(worst or 0.0, float((trace.attn(name) - torch.stack(expected)).abs().max()))
    return worst


@torch.inference_mode()
def output_difference(folder: Path, kind: Any, trace: Any) -> float | None:
    """Return the largest difference of a logit to the class's own default pass, as a share of the largest."""
    if getattr(trace, "logits", None) is None:
        return None
    out = kind.from_pretrained(folder, dtype=torch.float32).eval()(**fed(trace))
    logits = getattr(out, "logits", None)
    if logits is None:
        return None
    return float((trace.logits - logits).abs().max() / logits.abs().max())


def steps_difference(model: Any, trace: Any) -> float:
    """Return the largest difference of the last step's weights to those of one pass over the same tokens."""
    how = {"tgt_text": TARGET} if model.inputs.takes_target else {"new_tokens": 3}
    last = list(model.stepwise(TEXT, **how))[-1]
    whole = model.rerun(last.trace)
    kinds = [kind for kind in whole.kinds if kind != "encoder_self"]
    layers = [(kind, layer) for kind in kinds for layer in range(whole.shape(kind)[0])]
    return max(
        float((last.attn(kind, layer=at)[:, -1] - whole.attn(kind, layer=at)[:, -1]).abs().max()) for kind, at in layers
    )


if __name__ == "__main__":
    import json
    import sys
    import time
    from dataclasses import asdict

    from tests.models.huggingface.processes import run_each

    began = time.monotonic()
    every = text_classes()  # imported here, once for all processes
    names = sys.argv[2:] or sorted(every)
    rows = {}
    for name, found in run_each(class_row, names):
        rows[name] = asdict(found) if isinstance(found, ClassRow) else {"name": name, "shown": f"failed: {found}"}
        sys.stderr.write(
            f"{len(rows)}/{len(names)} {time.monotonic() - began:.0f}s {name} {rows[name]['shown'][-150:]}\n"
        )
        Path(sys.argv[1]).write_text(json.dumps(rows, indent=1))
