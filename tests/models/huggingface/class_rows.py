"""What attnviz shows of each class of transformers that reads text: rows of docs/reference/models.md."""

import inspect
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

import attnviz
from attnviz.models.huggingface import ModelError
from attnviz.models.huggingface.errors import describe_failure
from attnviz.models.huggingface.network.network import reads_prompt_both_ways
from tests.models.huggingface.every_class import SORTS, save_class, text_classes
from tests.models.huggingface.processes import run_each
from tests.models.huggingface.shown import PAGES, TEXT

TARGET = "A cat sat on the mat."
CLOSE = 1e-3
CRASHED = "crashed"
NOT_BUILT = "not tried"
_TIMM = "its vision tower is one of timm, which needs torchvision, and neither is installed for these tests"
_NO_KEYS = (
    "transformers {version} cannot build it, because its config demands that every layer takes its keys from another "
    "model, and the text model in it demands a layer with keys of its own"
)
_REASONS = {
    "FastVlmForConditionalGeneration": _TIMM,
    "Gemma3nForConditionalGeneration": _TIMM,
    "PerceptionLMForConditionalGeneration": _TIMM,
    "Gemma4AssistantForCausalLM": _NO_KEYS,
    "Gemma4UnifiedAssistantForCausalLM": _NO_KEYS,
}
_EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}


@dataclass(frozen=True)
class ClassRow:
    """The findings on a class. `shown` is "yes", "weights", "joint", "no: …" with the sentence that refuses the class,
    or "not tried: …" with the reason.

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

    def cells(self) -> tuple[str, ...]:
        """Return the row's cells in the document."""
        numbers = [f"{number:.0e}" if number is not None else "" for number in (self.difference, self.own, self.steps)]
        marks = ["" if not self.pages else "✓" if self.pages[page] else "–" for page in PAGES]
        return (self.name, self.model_type, self.shown.replace("|", "\\|"), *numbers, *marks)


def every_row(tell: Callable[[str], Any]) -> list[ClassRow]:
    """Make the rows of all text classes, each in a process of its own. A process that breaks off or hangs is a row."""
    every = text_classes()  # imported here, once for all processes
    rows = []
    for name, found in run_each(class_row, list(every)):
        if isinstance(found, str):
            kind: Any = every[name][0]
            found = ClassRow(name, kind.config_class.model_type, f"{CRASHED}: {found.strip().splitlines()[-1]}")
        rows.append(found)
        tell(f"{len(rows)} of {len(every)}: {name}: {found.shown}\n")
    return sorted(rows, key=lambda row: (list(SORTS).index(every[row.name][1]), row.name.lower()))


def class_row(name: str) -> ClassRow:
    """Make the row of one of all text classes."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    kind, sort = text_classes()[name]
    with tempfile.TemporaryDirectory() as place:
        return row_of(kind, sort, Path(place) / "model")


def row_of(kind: Any, sort: str, folder: Path) -> ClassRow:
    """Make a checkpoint of a class, open it as a visitor does, and compare it with transformers."""
    about = (kind.__name__, kind.config_class.model_type)
    try:
        save_class(kind, sort, folder)
    except Exception as error:
        why = _REASONS.get(kind.__name__, describe_failure(error)).format(version=transformers.__version__)
        return ClassRow(*about, f"{NOT_BUILT}: {why}")
    try:
        model: Any = attnviz.load(folder, device="cpu", dtype="float32")
    except ModelError as refusal:
        return ClassRow(*about, f"no: {refusal}")
    trace = make_trace(model)
    pages = {page: can(model, trace) for page, can in PAGES.items()}
    shown = "yes"
    if hasattr(model, "why"):
        shown = "joint" if any("sum to 1 together" in note for note in trace.info.notes) else "weights"
    return ClassRow(
        *about,
        shown,
        weights_difference(folder, kind, trace),
        output_difference(folder, kind, trace),
        steps_difference(model) if pages["Decoding"] else None,
        pages,
    )


def make_trace(model: Any) -> Any:
    """Trace a sentence, with a target where the model takes one."""
    if model.inputs.takes_target:
        return model.trace(TEXT, tgt_text=TARGET)
    return model.trace(TEXT, new_tokens=0 if model.inputs.is_prompt and model.writes else None)


def fed(trace: Any) -> dict[str, torch.Tensor]:
    """Return the arguments of the pass that a trace shows."""
    sentence = trace.sentences[0]
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in (sentence.src, sentence.tgt_in))
    if src.numel() and tgt.numel():
        return {"input_ids": src, "decoder_input_ids": tgt}
    return {"input_ids": src if src.numel() else tgt}


@torch.inference_mode()
def weights_difference(folder: Path, kind: Any, trace: Any) -> float | None:
    """Return the largest difference of a weight to the eager attention of the class; None where it returns none."""
    peer = kind.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    arguments, worst = fed(trace), None
    if reads_prompt_both_ways(peer.config):  # as its processor passes them; without them, eager hides later tokens
        arguments["token_type_ids"] = torch.zeros_like(arguments["input_ids"])
    has_cache = "use_cache" in inspect.signature(peer.forward).parameters
    out = peer(
        **arguments, output_attentions=True, **({"use_cache": False} if has_cache else {})
    )  # or FSMT has no mask
    for name in trace.kinds:
        field_name = _EAGER[name] if "decoder_input_ids" in arguments else "attentions"
        ours, layers = trace.attn(name), getattr(out, field_name, None)
        expected = [layer[0] for layer in layers or () if isinstance(layer, torch.Tensor)]
        expected = [layer for layer in expected if layer.shape == ours.shape[1:]]  # no bands and no states
        if len(expected) == len(ours) and are_weights(expected):
            if trace.sink_weights(name) is not None and rows_sum_to_one(expected):  # GraniteSWA's, before their sink
                ours = ours / ours.sum(dim=-1, keepdim=True)
            worst = max(worst or 0.0, float((ours - torch.stack(expected)).abs().max()))
    return worst


def rows_sum_to_one(layers: list[torch.Tensor]) -> bool:
    """Check whether no layer's rows lack what went to a sink."""
    return all(bool(((layer.sum(dim=-1) - 1).abs() < CLOSE).all()) for layer in layers)


def are_weights(layers: list[torch.Tensor]) -> bool:
    """Check that layers are no scores, which some families return."""
    return all(bool((layer >= 0).all()) and float(layer.sum(dim=-1).max()) < 1 + CLOSE for layer in layers)


@torch.inference_mode()
def output_difference(folder: Path, kind: Any, trace: Any) -> float | None:
    """Return the largest difference of a logit to the class's own default pass, as a share of the largest."""
    if getattr(trace, "logits", None) is None:
        return None
    logits = getattr(kind.from_pretrained(folder, dtype=torch.float32).eval()(**fed(trace)), "logits", None)
    if logits is None or logits.shape != trace.logits.shape:  # a classifier's answer is no token's
        return None
    return float((trace.logits - logits).abs().max() / logits.abs().max())


def steps_difference(model: Any) -> float:
    """Return the largest difference of the last step's weights to those of one pass over the same tokens."""
    how = {"tgt_text": TARGET} if model.inputs.takes_target else {"new_tokens": 3}
    last = list(model.stepwise(TEXT, **how))[-1]
    whole = model.rerun(last.trace)
    kinds = [kind for kind in whole.kinds if kind != "encoder_self"]
    layers = [(kind, layer) for kind in kinds for layer in range(whole.shape(kind)[0])]
    return max(
        float((last.attn(kind, layer=at)[:, -1] - whole.attn(kind, layer=at)[:, -1]).abs().max()) for kind, at in layers
    )
