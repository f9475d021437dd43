from .engines.spark import *  # noqa: F403
from .engines.spark import __all__, __doc__  # noqa: F401
