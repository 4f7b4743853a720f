"""The errors of this package. Each message is one line: what is wrong, where, and what to do.

::

    EmpathyError
    |-- DataError               a data file cannot be read: names file, line and column
    |-- StoreError              a store of ratings fails, or is of another format
    |-- CrowdError              a marketplace of crowd work refuses something, or cannot be reached
    |-- DownloadError           data are neither here, nor on the mirror, nor to be downloaded
    |-- OptionError             an option has a value that cannot work
    |-- ModelFileError          a model, pool or vectors file is missing, broken or does not fit
    |-- TrainingError           a training cannot go on: its loss is no number any more
    |-- LanguageModelError      a language model, or the server that it runs on, fails for good
    |-- NotComputableError      a metric has nothing, or too little, to score
    `-- MissingDependencyError  an optional library is not installed (also an ImportError)

On the command line these errors are shown without a traceback; ``--loglevel debug`` shows it.
"""

from reprlib import Repr


class EmpathyError(Exception):
    """Anything that this package reports to its user."""


class DataError(EmpathyError):
    """A data file cannot be read."""


class StoreError(EmpathyError):
    """A store of ratings fails, or is of another format."""


class CrowdError(EmpathyError):
    """A marketplace of crowd work refuses something, or cannot be reached."""


class DownloadError(EmpathyError):
    """Data are neither here, nor on the mirror, nor to be downloaded."""


class OptionError(EmpathyError):
    """An option has a value that cannot work."""


class ModelFileError(EmpathyError):
    """A model, pool or vectors file is missing, broken or does not fit."""


class TrainingError(EmpathyError):
    """A training cannot go on."""


class LanguageModelError(EmpathyError):
    """A language model, or the server that it runs on, fails for good."""


class NotComputableError(EmpathyError):
    """A metric has nothing, or too little, to score."""


class MissingDependencyError(EmpathyError, ImportError):
    """An optional library is not installed."""


_values = Repr()
_values.maxstring = _values.maxother = 60


def shown(value: object) -> str:
    """A value of a file as a message shows it: in one line, and not too long a one."""
    return _values.repr(value)


def one_line(error: BaseException) -> str:
    """What an error of another library says, in one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]
