from .engines.mpi import *  # noqa: F403
from .engines.mpi import __all__, __doc__  # noqa: F401
