"""The names of what can be chosen: in addresses of pages, and on pictures."""

from attnviz.anatomy.implementations.page.state import ImplementationsState
from attnviz.anatomy.page.experiment import AnatomyState
from attnviz.app.address.persistent import BAR, FORMER, OF_LINKS
from attnviz.causes.attribution.attribution import AttributeState
from attnviz.causes.compared.compared import CompareState
from attnviz.causes.corpus.page.state import SentencesState
from attnviz.causes.page.state import CausesState
from attnviz.causes.patching.patching import PatchState
from attnviz.causes.switches.switches import SwitchOffState
from attnviz.decoding.decoding import DecodingState
from attnviz.heads.page.state import HeadsPageState
from attnviz.hosts.registry import PICTURES
from attnviz.kit.browser_view import shapes_of
from attnviz.learning.learning_state import LearningState, RecordingState
from attnviz.masks.masks import MasksState
from attnviz.masks.page.controls import MasksTab
from attnviz.masks.page.leak import LeakState, RowsState
from attnviz.masks.page.output import SaysState

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
