"""Check that a page shows what the models compute for its sentence; the expected results are computed apart from the
dashboard.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import attnviz
from attnviz.app.cache import toys, traces
from attnviz.learning.learning_state import OPEN
from attnviz.models.catalogue import TOY, entries
from attnviz.text.display import display_token
from attnviz.text.languages import language_name
from attnviz.toys import shipped
from attnviz.toys.experiment import experiment_named
from attnviz.tracing.causes import notation, resolution

SOURCE = ("Source sentence", "Source text", "Sentence", "Prompt")
TARGET = ("Target", "Second sentence")
IN_VIEW = ("kind", "layer", "head", "row", "sort", "tint", "specials")  # links call them by the same names

# Their long words stand on no page: one that is seen where another sentence is in the bar came from somewhere else.
TYPED = (
    ("The zebra has a violin.", "My walnut is red.", "The kettle hit this glacier."),
    ("A puppet took the saddle.", "Her orchid was cold.", "The lantern saw a harbour."),
    ("This meadow hid thimbles.", "The otter ate marmalade.", "A pirate met your cathedral."),
    ("A falcon ate apricots.", "My trumpet was silver.", "The pelican saw a canyon."),
    ("Our badger hid turnips.", "This sofa was velvet.", "The wizard met a dolphin."),
    ("A magpie ate raisins.", "His pillow was woollen.", "The knight met a beaver."),
)
MARKS = frozenset(word for texts in TYPED for text in texts for word in re.findall(r"[a-z]{5,}", text))


@dataclass(frozen=True)
class Told:
    """The tokens but for special ones, their numbers, the written text and the weights that belong to a sentence."""

    src: tuple[str, ...]
    tgt: tuple[str, ...]
    counts: tuple[int, int]
    text: str
    weights: str
    target: bool


@lru_cache
def _model(name: str):
    return attnviz.load(name)


@lru_cache(maxsize=256)
def run_sentence(name: str, src: str, to: str, tgt: str, new: int, do: str = "") -> Told | None:
    """Run the model on the sentence, with the changes to the run; None where it refuses it, which the page then
    says too.
    """
    model = _model(name)
    asked = traces.with_means(model, notation.parse(do).interventions, to)
    done = resolution.split_by_fit(asked, model.shapes, model.model_id).kept
    try:
        trace = traces.run(model, src, to=to, tgt=tgt, new=new, interventions=done)
    except ValueError:
        return None
    tokens = {side: getattr(trace.sentences[0], side) for side in ("src", "tgt")}
    words = {side: tuple(display_token(token) for token in tokens[side] if not token.is_special) for side in tokens}
    sentence = trace.sentences[0]
    text = "" if sentence.cut else sentence.tgt_text
    counts = len(tokens["src"]), max(0, len(tokens["tgt"]) - (1 if tokens["src"] else 0))  # <bos> is not written
    return Told(words["src"], words["tgt"], counts, text, trace.model_id, model.inputs.takes_target)


def problems(look: Mapping) -> list[str]:
    """List where picture, copied link and address do not belong to the sentence, language and model in the bar."""
    is_presented = "present=1" in urlsplit(look["address"]).query  # the picture alone
    if look["refused"] or look["isWithoutLink"] or look["link"] is None or is_presented:
        return []
    if not look["link"]:
        return ["there is no link to copy, though nothing is running and nothing was refused"]
    link = dict(parse_qsl(urlsplit(look["link"]).query, keep_blank_values=True))
    address = dict(parse_qsl(urlsplit(look["address"]).query, keep_blank_values=True))
    if urlsplit(look["address"]).path == "/learning":
        return _learning_problems(look["views"], link, address)
    if _is_trained_here(link["model"]):
        return []  # what nobody has recorded cannot be made again here
    bar = _bar(look["typed"])
    return [
        *_link_problems(link, bar),
        *_address_problems(address, bar, link),
        *_view_problems(look["views"], link),
        *_picture_problems(look, bar, link),
    ]


def _is_trained_here(model: str) -> bool:
    return toys.is_toy(model) and not shipped.path(experiment_named(model.removeprefix(TOY))).exists()


def _learning_problems(views: list[Mapping], link: Mapping[str, str], address: Mapping[str, str]) -> list[str]:
    """Compare link, address and picture of Learning: one experiment, one moment, one head.

    A copied link leaves the guess out, so that whoever opens it is asked for one: the guess is the address's.
    """
    told = link.get("guess", "")
    link = dict(link) | {"guess": address.get("guess", "")}
    return [
        *([f"the link tells the guess {told!r}"] if told not in ("", OPEN) else []),
        *(f"the address has {name}={said!r}, the link {link[name]!r}"
          for name, said in address.items() if name in link and said != link[name]),
        *(f"the picture shows {name} {view[name]}, the link says {link.get(name)!r}"
          for view in views for name in ("moment", "site", "guess") if str(view[name]) != link.get(name, "")),
    ]  # fmt: skip


def _bar(typed: Mapping[str, str]) -> dict[str, str]:
    def field(names: tuple[str, ...]) -> str:
        return next((value for label, value in typed.items() if label.startswith(names)), "")

    return {"src": field(SOURCE), "tgt": field(TARGET), "to": typed.get("To", ""), "model": typed.get("Model", "")}


def _link_problems(link: Mapping[str, str], bar: Mapping[str, str]) -> list[str]:
    titles = {entry.name: entry.title for entry in entries()}
    named = {
        "sentence": (link.get("src", ""), bar["src"]),
        "language": (language_name(link["to"]) if link.get("to") else "", bar["to"]),
        "model": (_title(link["model"], titles), bar["model"]),
        "target": (link.get("tgt", ""), bar["tgt"] or link.get("tgt", "")),
    }
    return [
        f"the link has the {name} {said!r}, the bar {seen!r}" for name, (said, seen) in named.items() if said != seen
    ]


def _title(name: str, titles: Mapping[str, str]) -> str:
    return toys.entry(name).title if toys.is_toy(name) else titles.get(name, Path(name).name)


def _address_problems(address: Mapping[str, str], bar: Mapping[str, str], link: Mapping[str, str]) -> list[str]:
    expected = {"src": bar["src"], "tgt": bar["tgt"], "to": link.get("to", ""), "model": link["model"]}
    return [
        f"the address has {name}={address[name]!r}, the bar {value!r}"
        for name, value in expected.items()
        if name in address and address[name] != value and not (name == "to" and not bar["to"])
    ]


def _view_problems(views: list[Mapping], link: Mapping[str, str]) -> list[str]:
    """Compare what the picture of Heads has in view with what the server knows of it: the copied link.

    A row that a text does not have is not shown, and waits in the address for a text that has it.
    """
    return [
        f"the picture shows {name} {view[name]}, the link says {link.get(name)!r}"
        for view in views
        if "pins" in view
        for name in IN_VIEW
        if view[name] is not None and str(view[name]) != link.get(name)
    ]


def _picture_problems(look: Mapping, bar: Mapping[str, str], link: Mapping[str, str]) -> list[str]:
    right = run_sentence(
        link["model"], bar["src"], link.get("to", ""), bar["tgt"], int(link.get("new") or 0), link.get("do", "")
    )
    if right is None:
        return ["the model refuses this sentence, but the page shows a picture"]
    found = []
    if right.weights not in look["status"]:
        found.append(f"the status bar does not name the weights {right.weights}: {look['status']!r}")
    n_src, n_tgt = right.counts
    counts = f"{n_src} tokens in · {n_tgt} out" if n_src and n_tgt else f"{n_src or n_tgt} tokens"
    if counts not in look["status"]:
        found.append(f"the sentence has {counts}, the status bar says {look['status']!r}")
    if right.target and link.get("tgt", "") != right.text:
        found.append(f"the link has the target {link.get('tgt')!r}, the model writes {right.text!r}")
    return [*found, *_strangers(look, bar, link), *_missing(look, right, link.get("quadrant", ""))]


def _strangers(look: Mapping, bar: Mapping[str, str], link: Mapping[str, str]) -> list[str]:
    own = " ".join((*bar.values(), *link.values(), *look["others"])).lower()
    shown = " ".join((look["text"], *look["data"])).lower()
    words = sorted(word for word in MARKS if word in shown and word not in own)
    return [f"words of another sentence are shown: {', '.join(words)}"] if words else []


def _missing(look: Mapping, right: Told, quadrant: str) -> list[str]:
    """Find tokens that are missing: a picture names all of one of the two sentences at least, but where one part of a
    text was chosen (`quadrant`: a prompt's, or what was written after it).
    """
    data = " ".join(look["data"])
    if quadrant or not look["data"] or any(text and text not in look["typed"].values() for text in look["others"]):
        return []
    lost = [[token for token in tokens if token not in data] for tokens in (right.src, right.tgt) if tokens]
    return [] if not all(lost) else [f"the picture does not name {lost[0][:5]}"]
