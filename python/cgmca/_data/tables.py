"""Samples as people hold them: data frames, Arrow tables, sparse and complex arrays, missing values."""

from __future__ import annotations

import collections
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from .._base import warn_user
from .domains import labels

_LISTED = 8  # names that a message lists


def names_of(data: Any) -> Optional[List[str]]:
    """The names of a table's columns, where all are text and no two are equal.

    >>> import pandas
    >>> names_of(pandas.DataFrame({"length": [1.0], "width": [2.0]})), names_of(np.ones((1, 2)))
    (['length', 'width'], None)
    """
    columns = list(getattr(data, "column_names", getattr(data, "columns", [])))  # Arrow's, else those of data frames
    named = columns and all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns)
    return columns if named else None


def _library(data: Any) -> str:
    """'pandas', 'polars' or 'pyarrow' for a table of theirs, else ''."""
    name = type(data).__module__.partition(".")[0]
    return name if name in ("pandas", "polars", "pyarrow") and len(getattr(data, "shape", ())) == 2 else ""


def is_pandas(data: Any) -> bool:
    return _library(data) == "pandas"


def _listed(names: Sequence[str]) -> str:
    return "".join(f"\n- {name}" for name in names[:_LISTED]) + ("\n- ..." if len(names) > _LISTED else "")


def check_names(names: Sequence[str], expected: Sequence[str], label: str) -> None:
    """ValueError that lists the names which are unknown or missing, in scikit-learn's words."""
    unknown = [name for name in names if name not in set(expected)]
    missing = [name for name in expected if name not in set(names)]
    if not unknown and not missing:
        return
    message = f"{label}: The feature names should match those that were passed during fit."
    if unknown:
        message += f"\nFeature names unseen at fit time:{_listed(unknown)}"
    if missing:
        message += f"\nFeature names seen at fit time, yet now missing:{_listed(missing)}"
    raise ValueError(message)


def in_order(data: Any, expected: Optional[Sequence[str]], label: str, *, strict: bool = False) -> Any:
    """A table with its columns in the expected order; data without names stay as they are.

    Columns in another order are put right with a warning (`strict`: they are a ValueError), other names are a
    ValueError.
    """
    names = names_of(data)
    if names is None or expected is None or len(expected) == 0 or names == list(expected):
        return data
    check_names(names, expected, label)
    if strict:
        raise ValueError(f"{label}: The feature names should match those that were passed during fit.\n"
                         "Feature names must be in the same order as they were in fit.\n")
    warn_user(f"the columns of {label} are in another order than those of the fit; they were put in order by name")
    ordered = list(expected)
    return data.select(ordered) if _library(data) in ("polars", "pyarrow") else data[ordered]


def is_sparse(data: Any) -> bool:
    return hasattr(data, "tocsr") and hasattr(data, "toarray")


def _dense(data: Any) -> Any:
    return data.toarray() if is_sparse(data) else data


def plain(data: Any) -> Any:
    """What NumPy understands: the values of an Arrow table, and those of a data frame or masked array that has missing
    values.

    >>> plain(np.ma.masked_greater([[1.0, 9.0]], 2))
    array([[ 1., nan]])
    """
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":  # NumPy would take what is behind the mask
        return data.astype(np.float64).filled(np.nan)
    library = _library(data)
    if library == "pyarrow":
        bad = [field.name for field in data.schema if not _is_number(field.type)]
        if bad:
            raise ValueError(f"these columns hold no numbers:{_listed(bad)}\nleave them out")
        return np.column_stack([_numbers(column) for column in data.columns]) if data.num_columns else np.empty((0, 0))
    if library == "polars":
        return data.to_numpy()
    if library == "pandas" and any(kind.kind not in "biufc" or not isinstance(kind, np.dtype) for kind in data.dtypes):
        bad = [str(data.columns[j]) for j in range(data.shape[1]) if _as_numbers(data.iloc[:, j]) is None]
        if bad:
            raise ValueError(f"these columns hold no numbers:{_listed(bad)}\nleave them out, or make numbers of them "
                             "(pandas.get_dummies does of categories)")
        return np.column_stack([_as_numbers(data.iloc[:, j]) for j in range(data.shape[1])])
    return data


def _as_numbers(column: Any) -> Any:
    """A column of pandas' in float64, with missing values as NaN; None where it holds something else than numbers."""
    if getattr(column.dtype, "kind", "O") in "Mm":  # times, which pandas would count in nanoseconds
        return None
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return None


def _is_number(kind: Any) -> bool:
    import pyarrow
    return bool(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)
                or pyarrow.types.is_decimal(kind) or pyarrow.types.is_null(kind))


def _numbers(column: Any) -> Any:
    """An Arrow column in float64; nulls are NaN."""
    import pyarrow
    values = column.cast(pyarrow.float64()) if not pyarrow.types.is_boolean(column.type) else column.cast(
        pyarrow.int8()).cast(pyarrow.float64())
    return np.asarray(values, dtype=np.float64)


def to_add(arrays: Sequence[Any], names: Sequence[Sequence[str]], sample_weight: Any) -> Tuple[List[Any], List[Any]]:
    """Tables as arrays, with their columns in the order of `names`; and the names they came with. For `Summary.add`."""
    called = labels(len(arrays))
    check_rows([*arrays, sample_weight], [*called, "sample_weight"])
    ordered = [_dense(plain(in_order(data, own, name))) for data, own, name in zip(arrays, names, called)]
    return ordered, [names_of(data) for data in arrays]


def like(given: Any, values: Any, names: Optional[Sequence[str]]) -> Any:
    """Values as a table of the kind of `given` and with its index; as an array where that is none."""
    library = _library(given)
    columns = list(names) if names else None
    if library == "pandas":
        import pandas
        return pandas.DataFrame(values, index=given.index, columns=columns)
    if library == "polars":
        import polars
        return polars.DataFrame(values, schema=columns)
    if library == "pyarrow":
        import pyarrow
        return pyarrow.table(list(values.T), names=columns or [f"x{j}" for j in range(values.shape[1])])
    return values


# Row labels

def _row_labels(data: Any) -> Any:
    """The index of a pandas DataFrame or Series; None where there is none."""
    return data.index if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "index") else None


def check_rows(arrays: Sequence[Any], labels: Sequence[str]) -> None:
    """Matched samples are paired by position. ValueError where pandas' row labels say something else: the same labels
    in another order. A warning where only some labels are shared, and are at other places.

    Pandas' default index 0, 1, 2, … says nothing where the labels beside it are others. None among `arrays` is skipped.

    >>> import pandas
    >>> X = pandas.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    >>> check_rows([X, X.to_numpy(), X], ["X", "Y", "weights"])
    >>> check_rows([X, X[::-1]], ["X", "Y"])
    Traceback (most recent call last):
    ...
    ValueError: X and Y have the same row labels in another order: row 0 is 'p' in X and 'q' in Y. To pair rows of the \
same label give Y.loc[X.index]; to pair them by their place give Y.to_numpy()
    """
    indexed = [(name, index) for name, index in ((name, _row_labels(data)) for name, data in zip(labels, arrays))
               if index is not None]
    for name, index in indexed[1:]:
        first_name, first = indexed[0]
        if index is first or len(index) != len(first) or first.equals(index):
            continue
        same, row = _compared(first, index)
        if row is None:
            continue
        place = f"row {row} is {first[row]!r} in {first_name} and {index[row]!r} in {name}"
        if same:
            pair = f"give {name}.loc[{first_name}.index]" if first.is_unique else "sort both by more than their index"
            raise ValueError(f"{first_name} and {name} have the same row labels in another order: {place}. To pair rows "
                             f"of the same label {pair}; to pair them by their place give {name}.to_numpy()")
        warn_user(f"{first_name} and {name} are paired by position, although some of their row labels are at other "
                  f"places: {place}. To pair rows of the same label give {first_name}.loc[labels] and "
                  f"{name}.loc[labels] with labels = {first_name}.index.intersection({name}.index); with "
                  f"{name}.to_numpy() this warning does not come")


def _compared(one: Any, two: Any) -> Tuple[bool, Optional[int]]:
    """Whether two indexes hold the same labels, and the first row where theirs differ; None where that says nothing."""
    try:
        if not one.is_unique or not two.is_unique:
            differ = np.asarray(one != two)
            same = collections.Counter(one) == collections.Counter(two)
            return same, int(differ.argmax()) if same and differ.any() else None
        places = two.get_indexer(one)
    except (TypeError, ValueError):  # labels that cannot be compared
        return False, None
    moved = (places >= 0) & (places != np.arange(len(places)))
    same = bool((places >= 0).all())
    if not moved.any() or (not same and (_is_default(one) or _is_default(two))):
        return same, None
    return same, int(moved.argmax())


def _is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


# Weights

def weights_of(sample_weight: Any, count: int, *, whole: bool = True) -> Any:
    """The weights of `count` pairs in float64, None where there are none. A part of the pairs may have weight 0 alone.

    >>> weights_of([1, 2, 0], 3)
    array([1., 2., 0.])
    >>> weights_of([1, -2, 0], 3)
    Traceback (most recent call last):
    ...
    ValueError: sample_weight holds -2.0 at place 1 (counted from 0); a weight says how often its pair counts, and must be \
finite and at least 0
    """
    if sample_weight is None:
        return None
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight has {weights.ndim} dimensions; one number for each pair is needed")
    if len(weights) != count:
        raise ValueError(f"sample_weight holds {len(weights)} weights for {count} pairs; each needs one")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise ValueError(f"sample_weight holds {weights[bad.argmax()]} at place {bad.argmax()} (counted from 0); a "
                         "weight says how often its pair counts, and must be finite and at least 0")
    if whole and count and not weights.any():
        raise ValueError(f"all {count} weights of sample_weight are zero; pairs need a weight above 0 to count")
    return weights


# Missing values

_BLOCK = 1 << 22  # numbers looked at together


def blocks(rows: int, features: int) -> Iterator[slice]:
    size = max(16, _BLOCK // max(features, 1))
    return (slice(first, min(first + size, rows)) for first in range(0, rows, size))


def all_finite(X: Any) -> bool:
    if X.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):
            return True
    return all(np.isfinite(X[rows]).all() for rows in blocks(*X.shape))


def rows_with_nan(X: Any) -> Any:
    """A boolean for each row.

    >>> rows_with_nan(np.array([[1, 2], [3, np.nan]]))
    array([False,  True])
    """
    if X.dtype.kind != "f":
        return np.zeros(X.shape[0], dtype=bool)
    if is_sparse(X):
        X = X.tocsr()
        found = np.zeros(X.shape[0], dtype=bool)
        found[np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)]] = True
        return found
    return np.concatenate([np.isnan(X[rows]).any(axis=1) for rows in blocks(*X.shape)] or [np.zeros(0, dtype=bool)])


def nan_message(X: Any, label: str, domain: int, names: Optional[Sequence[str]], advice: str,
                before: int = 0) -> Optional[str]:
    """What is wrong with an array that holds NaN; None if it holds none. Rows count from `before` on."""
    bad = rows_with_nan(X)
    if not bad.any():
        return None
    row, count = int(bad.argmax()), sum(int(np.isnan(_dense(X[rows])).sum()) for rows in blocks(*X.shape))
    column = int(np.isnan(_dense(X[row:row + 1])).argmax())
    name = f" ('{names[column]}')" if names else ""
    return (f"domain {domain} holds NaN at row {before + row}, column {column}{name}, counted from 0. It is the first "
            f"of {count} NaN in {int(bad.sum())} of the {X.shape[0]} rows of {label}; {advice}")


def map_rows(X: Any, function: Callable[[Any], Any], missing: str, message: Callable[[Any, int], Optional[str]],
             before: int = 0) -> Any:
    """function(X) for rows without NaN; rows with NaN stay NaN if `missing` is 'pass', else they are an error."""
    if is_sparse(X):
        return np.concatenate([map_rows(X[rows].toarray(), function, missing, message, rows.start)
                               for rows in blocks(*X.shape)])
    if all_finite(X):
        return function(X)
    bad = rows_with_nan(X)
    if missing != "pass" and bad.any():
        raise ValueError(message(X, before))
    good = X[~bad]
    if not all_finite(good):
        row, column = np.argwhere(~np.isfinite(good))[0]
        raise ValueError(f"the samples hold infinity (inf), first at row {row}, column {column}, counted from 0, of "
                         "those without NaN")
    return among(function(good), ~bad)


def among(rows: Any, kept: Any) -> Any:
    """The rows where `kept` says so, rows of NaN elsewhere."""
    result = np.full((len(kept), rows.shape[1]), np.nan)
    result[kept] = rows
    return result


# Complex numbers

_AS_REAL = {"magnitude": np.abs, "power": lambda X: X.real ** 2 + X.imag ** 2,
            "stack": lambda X: np.concatenate([X.real, X.imag], axis=1)}


def real_features(X: Any, how: str) -> Any:
    """Real features of complex samples, such as radar's.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        A data frame keeps its index and its names; 'stack' adds '.re' and '.im' to them.
    how : {'magnitude', 'power', 'stack'}
        ``|x|``, ``|x|²``, or the real parts followed by the imaginary parts, which makes twice as many features.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> cgmca.real_features(np.array([[3 + 4j, 1j]]), "stack")
    array([[3., 0., 4., 1.]])
    """
    if how not in _AS_REAL:
        raise ValueError(f"how is '{how}'; give 'magnitude', 'power' or 'stack'")
    names = names_of(X)
    if names and how == "stack":
        names = [f"{name}.{part}" for part in ("re", "im") for name in names]
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(f"X has {values.ndim} dimensions; an array of shape (samples, features) is needed")
    return like(X, _AS_REAL[how](values), names)


def refuse_complex(data: Any, label: str) -> None:
    """scikit-learn's error for complex data, with a way out."""
    kinds = getattr(data, "dtypes", None) if is_pandas(data) else [getattr(data, "dtype", None)]
    if any(getattr(kind, "kind", "") == "c" for kind in kinds):  # type: ignore[union-attr]
        raise ValueError(f"Complex data not supported: {label} holds complex numbers. cgmca.real_features({label}, "
                         "'magnitude'), 'power' or 'stack' makes real ones of them")
