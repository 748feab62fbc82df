"""Where a term can be tried: a page, and the tab of it that shows what the term means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TryPlace:
    """A page by its title, and its tab by the name that links carry and by its title; "" for its first one, and where
    it has none.
    """

    page: str
    tab: str = ""
    title: str = ""

    @property
    def said(self) -> str:
        """What a link to it reads."""
        return f"Try it on {self.page}: {self.title}" if self.title else f"Try it on {self.page}"


# tab -> its title, and the other terms that it shows; those of no tab are on the page's first one
_Tabs = Mapping[str, tuple[str, ...]]

_HEADS: _Tabs = {
    "links": ("Links", "Read", "Fit"),
    "model": ("Whole model", "Maps", "Lines"),
    "row": ("One row", "Row"),
    "neuron": ("Neuron", "Score", "By contribution", "Dot product", "Scaled", "With the model's bias", "Softmax"),
    "alignment": (
        "Alignment", "Ways to align", "All ways", "AER", "Here", "Links by hand", "By hand", "No source",
        "Lines of words", "Matrix",
    ),
    "flow": ("Flow", "Alignment error", "Rollout", "ALTI", "Residual share", "Measured share", "Max flow"),
}  # fmt: skip
_MASKS: _Tabs = {
    "says": (
        "What it would say", "Next tokens after", "written step by step", "one pass over the whole target", "moved",
    ),
    "fills": ("All fills", "A row without keys", "value", "sum", "masked", "finding"),
    "leak": ("Leak test", "Replace target token", "by the first token of"),
    "rows": ("Row by row", "Tokens that have arrived"),
    "broadcast": ("Broadcast",),
}  # fmt: skip
_CAUSES: _Tabs = {
    "sentences": (
        "Many sentences", "Your own sentences", "A list from a file", "Measure the list", "Stop the list", "Spread of",
        "writes", "by gradient", "lost without", "± error", "helps", "strongest key, most often", "Along the heads",
        "Up the heads", "Colour the heads", "lift", "The most", "By lot", "Pruning curve", "Pruning orders",
    ),
    "patch": (
        "Patch", "Pairs", "Changed sentence", "Direction", "Token a", "Token b", "Control a", "Control b", "Restored",
        "Control",
    ),
    "attribute": (
        "Attribute", "Logit of", "Minus that of", "By size", "In the model’s order", "Adds directly",
        "Falls without it", "Logit lens",
    ),
    "compare": (
        "Compare", "noticed", "Words in step", "probabilities in step", "The other sentence", "The other language",
        "The other model",
    ),
}  # fmt: skip
_ANATOMY: _Tabs = {
    "skip": (
        "Skip a line", "reshape", "result", "silent", "raises", "off by up to", "difference", "NaN",
        "row sums",
    ),
    "memory": ("Memory order", "row-major", "view", "transpose", "contiguous", "strides"),
    "claims": ("Claims", "learned numbers", "variance", "autograd", "recorder", "peak", "alive", "additive"),
    "counts": ("Shapes and counts", "tgt_in", "tgt_out"),
    "modulation": (
        "Self-attention? Not really", "bilinear form", "modulation", "asymmetry", "rank", "spectrum", "singular value",
    ),
}  # fmt: skip
_IMPLEMENTATIONS: _Tabs = {
    "agreement": ("Agreement", "max |Δ|", "allclose"),
    "cost": ("Time and memory", "median", "fused kernel"),
    "source": ("Source", "Left", "Right", "ModuleList", "logits", "dropout"),
    "parameters": ("Parameters", "in_proj_weight"),
    "relative": ("Relative positions", "Reach", "Strength", "get_scores"),
    "shapes": ("Mask shapes", "prepare_mask", "broadcasting"),
    "bugs": ("Cabinet of bugs", "Put into the model at", "Xavier"),
}
# What stands around every page is tried where it acts most.
_FRAME: Mapping[str, tuple[str, ...]] = {
    "Decoding": ("Tokens to write", "Target", "decoding", "forward"),
    "Anatomy": ("d_k", "layers", "heads", "three kinds of attention", "two kinds of attention"),
    "Implementations": ("parameters", "device"),
    "Lessons": ("Answer", "Skip and show", "Hint", "Own window", "Bring back"),
}


def place_of(term: str, section: str) -> TryPlace:
    """Where a term is tried; the glossary's sections are named by the page that shows their terms, or "frame"."""
    return _OF_SECTION[section](term)


def _on(page: str, tabs: _Tabs) -> Callable[[str], TryPlace]:
    by_term = {term: TryPlace(page, tab, terms[0]) for tab, terms in tabs.items() for term in terms}
    return lambda term: by_term.get(term, TryPlace(page))


def _of_frame(term: str) -> TryPlace:
    return TryPlace(next((page for page, terms in _FRAME.items() if term in terms), "Heads"))


def _of_site(term: str) -> TryPlace:
    """Anatomy and Implementations have their terms in common."""
    found = _on("Implementations", _IMPLEMENTATIONS)(term)
    return found if found.tab else _on("Anatomy", _ANATOMY)(term)


_OF_SECTION: Mapping[str, Callable[[str], TryPlace]] = {
    "frame": _of_frame,
    "Heads": _on("Heads", _HEADS),
    "Masks": _on("Masks", _MASKS),
    "Decoding": _on("Decoding", {}),
    "Causes": _on("Causes", _CAUSES),
    "Learning": _on("Learning", {}),
    "Anatomy": _of_site,
    "Implementations": _of_site,
}
