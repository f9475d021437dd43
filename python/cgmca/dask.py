from .engines.dask import *  # noqa: F403
from .engines.dask import __all__, __doc__  # noqa: F401
