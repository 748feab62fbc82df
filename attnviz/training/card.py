"""Write the model card: what a checkpoint is, how it was trained and on what, how good it is, and where it fails."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from attnviz.text.languages import language_name
from attnviz.training.evaluation import Score
from attnviz.training.recipe import Recipe

DATA = """\
Sentence pairs of the Tatoeba project, selected and paired by manythings.org/anki, under
[CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/).
Attribution: **www.manythings.org/anki and tatoeba.org**.

Changes made to the text before training: Unicode NFC; curly quotes to ASCII in Latin-script text; no-break and
zero-width spaces normalised; ASCII punctuation next to Chinese characters made full-width; pairs over 250 characters
and exact duplicates dropped; Chinese converted to Simplified. English is lowercased when it is encoded. An English
sentence lies in the same split in every language."""

LIMITS = """\
- It knows short everyday sentences, many of them about Tom and Mary. News, law, poetry and long sentences are beyond
  it.
- It reads English only, and does not tell `Polish` from `polish`, since capitals are lowered.
- Characters that are not in its vocabulary are read as `<unk>` and never written.
- Names, numbers and rare words are often wrong, without any sign of it in the sentence.
- It repeats what its sentences say about people, stereotypes included. It is made to be looked into, not relied on."""


@dataclass(frozen=True)
class Demo:
    """Sentences that a visitor is likely to type, and the model's translations; `name` is the set's name on the card.

    `wrong` maps a language to the sentences whose translation a reader called wrong, and why. A language that nobody
    has read is not in it.
    """

    sentences: tuple[str, ...]
    translations: Mapping[str, Sequence[str]]
    wrong: Mapping[str, Mapping[str, str]]
    name: str = "demo"


@dataclass(frozen=True)
class TrainedModel:
    """Facts about the model for the model card.

    `pairs` is the number of training pairs for each language, `more` the same for each additional table, and `note`
    says what was changed during training.
    """

    name: str
    n_parameters: int
    recipe: Recipe
    steps: int
    tokens_seen: int
    pairs: Mapping[str, int]
    more: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    note: str = ""


def read_marks(path: Path | None, sentences: Sequence[str]) -> dict[str, dict[str, str]]:
    """Read a reader's verdict as JSON: language -> sentence -> what is wrong with its translation (`{}`: nothing).

    Raises ValueError for another format, and for a sentence that is not among the translated ones.
    """
    if path is None:
        return {}
    marks = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(marks, dict) or not all(isinstance(of_language, dict) for of_language in marks.values()):
        raise ValueError(
            f'{path.name} must map languages to sentences and reasons: {{"fr": {{"I love you.": "why"}}}}.'
        )
    for to, of_language in marks.items():
        if unknown := [sentence for sentence in of_language if sentence not in sentences]:
            raise ValueError(f"{path.name} marks {unknown[0]!r} ({to}), which is not among the demo sentences.")
    return marks


def card(model: TrainedModel, scores: Mapping[str, Score], demos: Sequence[Demo]) -> str:
    """Write the model card as Markdown, with a section for each set of sentences."""
    sections = {
        f"# {model.name}": _first_paragraph(model, tuple(scores)),
        "## Data and attribution": DATA,
        "## Recipe": _recipe(model),
        "## Scores": _scores(scores),
        **{f"## Sentences: {demo.name}": _demo(demo) for demo in demos},
        "## Limits": LIMITS,
    }
    return "\n\n".join(f"{heading}\n\n{text}" for heading, text in sections.items()) + "\n"


def _first_paragraph(model: TrainedModel, languages: Sequence[str]) -> str:
    names = ", ".join(language_name(to) for to in languages)
    return (
        f"Translates English into {names}. A Transformer of {model.n_parameters / 1e6:.1f} million parameters, trained "
        "from scratch, small enough to look into: every attention head of it can be seen with attnviz."
    )


def _recipe(model: TrainedModel) -> str:
    seen = ", ".join(
        f"{language_name(to)}: {model.pairs[to]:,} pairs, {times}x an epoch"
        for to, times in model.recipe.languages.items()
    )
    for name, pairs in model.more.items():
        counts = ", ".join(f"{language_name(to)}: {count:,}" for to, count in pairs.items())
        seen += f"; pairs of the table `{name}`, {model.recipe.more[name]}x an epoch ({counts})"
    numbers = {name: value for name, value in asdict(model.recipe).items() if name not in ("languages", "more")}
    opening = (
        f"{model.steps:,} steps, {model.tokens_seen:,} tokens read (both sides, without padding). {seen}. AdamW; "
        "products in bfloat16 where the machine multiplies in it, else in float32; the weights are a running average "
        "over the steps. `python -m attnviz.training` repeats it." + (f" {model.note}" if model.note else "")
    )
    return (
        opening + "\n\n" + _table(("setting", "value"), [(f"`{name}`", str(value)) for name, value in numbers.items()])
    )


def _scores(scores: Mapping[str, Score]) -> str:
    rows = [
        (
            language_name(to),
            *(f"{value:.1f}" for value in (score.bleu, score.chrf)),
            f"{score.pairs:,}",
            *(f"{value:.1f}" for value in (score.bleu_any, score.chrf_any)),
            f"{score.sentences:,}",
        )
        for to, score in scores.items()
    ]
    return (
        "sacrebleu on the dev split, greedy decoding; Chinese BLEU counts characters. Many English sentences have "
        "several translations: on the left every pair is taken by itself, on the right every sentence once, with all "
        "its translations as references.\n\n"
        + _table(("into", "BLEU", "chrF", "pairs", "BLEU, any", "chrF, any", "sentences"), rows)
    )


def _demo(demo: Demo) -> str:
    return "\n\n".join((_verdict(demo), *(_translations(demo, to) for to in demo.translations)))


def _verdict(demo: Demo) -> str:
    counts = []
    for to in demo.translations:
        name, total = language_name(to), len(demo.sentences)
        read = f"{total - len(demo.wrong[to])} of {total} right" if to in demo.wrong else "not yet judged by a reader"
        counts.append(f"{name}: {read}")
    return f"Greedy translations; ✗ marks those that a reader called wrong. {'; '.join(counts)}."


def _translations(demo: Demo, to: str) -> str:
    wrong = demo.wrong.get(to, {})
    rows = [
        (str(number), english, translation, f"✗ {wrong[english]}".strip() if english in wrong else "")
        for number, (english, translation) in enumerate(zip(demo.sentences, demo.translations[to], strict=True), 1)
    ]
    return _table(("", "English", language_name(to), "wrong"), rows)


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
