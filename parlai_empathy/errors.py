"""The exceptions of this package. Each message is one line: what is wrong, where, and what to do.

::

    EmpathyError
    |-- DataError               a data file cannot be read: names file, line and column
    |-- StoreError              a ratings store fails, or its format or study version does not match
    |-- CrowdError              a crowdsourcing marketplace rejects a request, or cannot be reached
    |-- DownloadError           data are missing, also on the mirror, and cannot be downloaded
    |-- OptionError             an option is missing or has an invalid value
    |-- ModelFileError          a model, pool or vectors file is missing, damaged or incompatible
    |-- TrainingError           training cannot continue: the loss is no longer finite
    |-- LanguageModelError      a language model or its server fails permanently
    |-- NotComputableError      there is no data, or too little, to compute a metric
    `-- MissingDependencyError  an optional library is not installed (also an ImportError)

The command line prints these errors without a traceback, unless ``--loglevel debug`` is given.
"""

from reprlib import Repr


class EmpathyError(Exception):
    """Base class of all errors that this package reports to its users."""


class DataError(EmpathyError):
    """A data file cannot be read."""


class StoreError(EmpathyError):
    """A ratings store fails, or its format or study version does not match."""


class CrowdError(EmpathyError):
    """A crowdsourcing marketplace rejects a request, or cannot be reached."""


class DownloadError(EmpathyError):
    """Data are missing, also on the mirror, and cannot be downloaded."""


class OptionError(EmpathyError):
    """An option is missing or has an invalid value."""


class ModelFileError(EmpathyError):
    """A model, pool or vectors file is missing, damaged or incompatible."""


class TrainingError(EmpathyError):
    """Training cannot continue."""


class LanguageModelError(EmpathyError):
    """A language model or its server fails permanently."""


class NotComputableError(EmpathyError):
    """There is no data, or too little, to compute a metric."""


class MissingDependencyError(EmpathyError, ImportError):
    """An optional library is not installed."""


_values = Repr()
_values.maxstring = _values.maxother = 60


def shown(value: object) -> str:
    """Return the ``repr`` of a value for an error message: one line, shortened if it is long."""
    return _values.repr(value)


def one_line(error: BaseException) -> str:
    """Return the message of another library's error as one line of at most 200 characters."""
    message = " ".join(str(error).split())
    return message if len(message) <= 200 else f"{message[:197]}..."
