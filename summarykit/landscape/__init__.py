"""Loss landscapes: directions, planes, surfaces; from the checkpoints of a training to recorded pictures of its loss."""

from summarykit.landscape.models import Evaluation, LandscapeModel, Network
from summarykit.landscape.recipe import MindSporeRecipe, Recipe
from summarykit.landscape.settings import LandscapeSettings
from summarykit.landscape.summary_landscape import SummaryLandscape
from summarykit.landscape.surveying import Progress
from summarykit.reading.surface import LossSurface

__all__ = [
    "Evaluation", "LandscapeModel", "LandscapeSettings", "LossSurface", "MindSporeRecipe", "Network", "Progress", "Recipe",
    "SummaryLandscape",
]  # fmt: skip
