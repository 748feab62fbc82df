"""The names of what can be chosen: in addresses of pages, and on pictures."""

from attnviz.pictures.browser_view import shapes_of
from attnviz.pictures.causes.attribution import AttributeState
from attnviz.pictures.causes.compared import CompareState
from attnviz.pictures.causes.patching import PatchState
from attnviz.pictures.causes.switches import SwitchOffState
from attnviz.pictures.decoding import DecodingState
from attnviz.pictures.learning_state import LearningState, RecordingState
from attnviz.pictures.masks import MasksState
from attnviz.pictures.shown.registry import PICTURES
from attnviz.ui.address.names import BAR, FORMER, OF_LINKS
from attnviz.ui.anatomy.state import AnatomyState
from attnviz.ui.causes.corpus.state import SentencesState
from attnviz.ui.causes.state import CausesState
from attnviz.ui.heads.state import HeadsPageState
from attnviz.ui.implementations.state import ImplementationsState
from attnviz.ui.masks.leak import LeakState, RowsState
from attnviz.ui.masks.output import SaysState
from attnviz.ui.masks.state import MasksTab

STATES = {
    "heads": (HeadsPageState,),
    "masks": (MasksState, MasksTab, LeakState, RowsState, SaysState),
    "decoding": (DecodingState,),
    "causes": (CausesState, SwitchOffState, PatchState, AttributeState, CompareState, SentencesState),
    "learning": (LearningState, RecordingState),
    "anatomy": (AnatomyState,),
    "implementations": (ImplementationsState,),
}


def names_in_addresses() -> dict[str, list[str]]:
    """List the parameters of addresses, by page, and those that older links use."""
    by_page = {page: sorted({name for one in states for name in one().to_params()}) for page, states in STATES.items()}
    former = [f"{page.lower()}: {then} is {now}" for page, names in FORMER.items() for then, now in names.items()]
    return {"every page": sorted([*BAR, *OF_LINKS]), "older links": sorted(former)} | by_page


def fields_of_pictures() -> dict[str, list[str]]:
    """List the fields that can be asked of each picture."""
    return {name: sorted(shapes_of(one.state_type)) for name, one in PICTURES.items()}
