"""`python -m attnviz.training --data FOLDER`: train a translator on sentence pairs; an interrupted run can be resumed.

With `--card FILE`, write the model card of what has been trained so far instead of training on. With `--ship FOLDER`,
write the card, the weights and the tokenizer as a model for the catalogue; its config says which inputs the model can
read, as measured.

With `--watch`, four sentences are traced before the first step and at every checkpoint: `recording.npz` in the state
folder holds the maps of all heads, the model's translations, and loss and scores on the dev pairs.
`attnviz.load_recording` can open it during and after the run. It holds at most sixty snapshots (fewer for a large
model), including the first and the last.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from attnviz.models.translator.translator import Translator
from attnviz.training.card import Demo, TrainedModel, card, read_marks
from attnviz.training.evaluation import score
from attnviz.training.recipe import Recipe
from attnviz.training.run import Pairs, Task, further_pairs, language_pairs, run
from attnviz.training.shipping import About, ship
from attnviz.training.trainer import read_state
from attnviz.training.watch import SENTENCES
from attnviz.training.workers import run_in_processes
from attnviz.transformer.device import choose_device


def main(arguments: list[str] | None = None) -> int:
    """Train, resume training, or write the card; return the exit status."""
    options = _parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        if options.card or options.ship:
            _write_card(options)
        else:
            recipe = _recipe(options)
            run_in_processes(recipe.workers, partial(run, _task(options), recipe))
    except (ValueError, OSError, EOFError) as error:  # EOFError: a truncated gzip file
        print(f"attnviz.training: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted; the same command goes on from the last saved state.", file=sys.stderr)
        return 130
    return 0


def _write_card(options: argparse.Namespace) -> None:
    """Translate and score with the trained weights, and write the model card or the whole shipped model."""
    recipe, place = read_state(options.state / "state.pt")
    device = choose_device(options.device)
    trained = options.weights or options.state / "checkpoint"
    translator = Translator.load(trained, device=device, dtype=torch.float32)
    learned, dev = (language_pairs(options.data, recipe, split) for split in ("train", "dev"))
    scores, tables = (
        {to: score(translator, pairs, to) for to, pairs in dev.items()},
        further_pairs(options.more, recipe),
    )
    demos = _demos(
        options, translator, {english for pairs in (learned, *tables.values()) for english in _english(pairs)}
    )
    pairs = {to: len(of_language) for to, of_language in learned.items()}
    more = {name: {to: len(of_language) for to, of_language in table.items()} for name, table in tables.items()}
    model = TrainedModel(
        options.name, translator.n_parameters, recipe, place.step, place.tokens_seen, pairs, more, options.note
    )
    text = card(model, scores, demos)
    if options.card:
        options.card.write_text(text, encoding="utf-8")
    if options.ship:
        about = About(options.title, options.start)
        ship(translator, trained, options.ship, about=about, card=text, learned=learned, held_out=dev)


def _demos(options: argparse.Namespace, translator: Translator, learned: set[str]) -> list[Demo]:
    """Translate the sets of sentences for the model card.

    Raises ValueError if a sentence that should be held out was in the training data.
    """
    sets = {path: path.read_text(encoding="utf-8").splitlines() for path in (*options.demo, *options.held_out)}
    for path in options.held_out:
        if known := [sentence for sentence in sets[path] if sentence in learned]:
            raise ValueError(f"{path.name} holds {known[0]!r}, which is among the sentences that were trained on.")
    marks = read_marks(options.marks, [sentence for sentences in sets.values() for sentence in sentences])
    demos = []
    for path, sentences in sets.items():
        translations = {to: translator.translate(sentences, to=to) for to in translator.languages}
        wrong = {
            to: {key: why for key, why in all_wrong.items() if key in sentences} for to, all_wrong in marks.items()
        }
        demos.append(Demo(tuple(sentences), translations, wrong, path.stem.replace("-", " ")))
    return demos


def _english(pairs: Pairs) -> Iterator[str]:
    return (english for of_language in pairs.values() for english, _ in of_language)


def _task(options: argparse.Namespace) -> Task:
    return Task(
        options.data, tuple(options.more), options.state, options.begin, options.device, options.every, options.dev,
        options.watch,
    )  # fmt: skip


def _recipe(options: argparse.Namespace) -> Recipe:
    try:
        return replace(Recipe(begin=options.begin.name if options.begin else ""), **json.loads(options.recipe))
    except (ValueError, TypeError) as error:
        raise ValueError(f"--recipe must be a JSON object of the recipe's names and values ({error}).") from error


def _positive_number(text: str) -> int:
    """Parse an integer of at least 1 for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attnviz.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with en-XX.train.tsv.gz and en-XX.dev.tsv.gz")
    parser.add_argument(
        "--more", type=Path, nargs="+", default=[Path("assets/pairs")],
        help="folders of the tables that the recipe's `more` names",
    )  # fmt: skip
    parser.add_argument("--state", type=Path, default=Path(".state/translator"), help="folder where the run is saved")
    parser.add_argument("--recipe", default="{}", help="changes to the recipe, as JSON: '{\"steps\": 20000}'")
    parser.add_argument("--begin", type=Path, help="folder of a trained model whose weights a new run begins with")
    parser.add_argument("--device", help="cpu, cuda or mps; by default ATTNVIZ_DEVICE, or the best available")
    parser.add_argument("--threads", type=_positive_number, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument(
        "--every", type=_positive_number, default=1000, help="steps between two saved states, each scored"
    )
    parser.add_argument(
        "--dev", type=_positive_number, default=400, help="dev pairs per language to score during the run"
    )
    parser.add_argument(
        "--watch", type=Path, nargs="?", const=SENTENCES, metavar="FILE",
        help="trace sentences at every checkpoint: a table as in assets/pairs; without FILE, four built-in sentences",
    )  # fmt: skip
    group = parser.add_argument_group("model card and catalogue")
    group.add_argument("--card", type=Path, help="write the model card here, with scores on all dev pairs")
    group.add_argument("--weights", type=Path, help="folder of other weights than the state's own, such as an average")
    group.add_argument("--name", default="translator-en-de-es-fr-zh", help="name of the model on the card")
    group.add_argument("--note", default="", help="a sentence for the card about changes to the recipe during training")
    group.add_argument("--ship", type=Path, help="write a model for the catalogue here, including its card")
    group.add_argument("--title", default="translator en→de·es·fr·zh", help="title of the model in the list of models")
    group.add_argument("--start", default="cross.0.0", help="the head to show first, as kind.layer.head")
    group.add_argument(
        "--demo", type=Path, nargs="*", default=[], help="files of sentences to translate in the card, one per line"
    )
    group.add_argument(
        "--held-out",
        type=Path,
        nargs="*",
        default=[],
        help="the same, but an error if a training pair contains one of the sentences",
    )
    group.add_argument(
        "--marks", type=Path, help='translations that are wrong, as JSON: {"fr": {"I love you.": "what is wrong"}, …}'
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
