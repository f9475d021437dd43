"""Samples as people give them, checked against what an estimator knows of its domains."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from .. import _core
from .._base import as_choice, as_flag, check_array, check_n_features, validate_data, warn_user
from .._data import device, tables
from .._data.domains import all_given, by_number, holds_domains, is_dict, label, labels, names_of_new, number_of
from .._data.nuisance import encoded
from .certificate import FitWarning
from .fitting import Matched, as_columns, is_flat, matched_domains, names_of, need_y
from .pairs import checked

# Samples to fit


def to_fit(estimator: Any, X: Any, y: Any, sample_weight: Any, missing: str, *, first: bool, least: int) -> Matched:
    """Samples of all domains, checked. The library finds NaN and infinity, and names row and column.

    `first`: they decide features and names; otherwise they must be like those before. `least`: so few are enough.
    """
    as_choice("missing", missing, ("error", "drop", "keep"))
    new_names = names_of_new(X) if first else None
    if not holds_domains(X):
        need_y(estimator, y)
        arrays = [X, y]
    elif len(X) < 2:
        raise ValueError(f"samples of {len(X)} domain; {type(estimator).__name__} matches those of at least 2")
    else:
        names = (new_names or [None] * len(X)) if first else estimator._domain_names()
        arrays = [rows for _, rows in all_given(X, y, names, "a fit")]
    m = len(arrays)
    if not first and m != len(estimator._domain_names()):
        raise ValueError(f"samples of {m} domains; those before were of {len(estimator._domain_names())}")
    one_dimensional, feature_names = not holds_domains(X) and is_flat(y), [names_of(rows) for rows in arrays]
    tables.check_rows([*arrays, sample_weight], [*labels(m), "sample_weight"])
    arrays = [taken(estimator, rows, domain, m, first=first, strict=True, least=least)
              for domain, rows in enumerate(arrays, start=1)]
    refuse_device(estimator, arrays, missing)
    weights = tables.weights_of(sample_weight, arrays[0].shape[0], whole=least > 1)
    if missing == "drop" and len({rows.shape[0] for rows in arrays}) == 1:
        bad = np.any([tables.rows_with_nan(rows) for rows in arrays], axis=0)
        if bad.any():
            warn_user(f"{bad.sum()} of {len(bad)} {'pairs' if m == 2 else 'samples'} were left out because they "
                      f"hold NaN, the first of them at row {bad.argmax()} (counted from 0)")
            arrays = [rows[~bad] for rows in arrays]
            weights = None if weights is None else weights[~bad]
    return Matched(arrays, weights, new_names, feature_names, one_dimensional)


def check_count(values: Any, rows: Any) -> None:
    if len(values) != rows.shape[0]:
        raise ValueError(f"nuisance has {len(values)} rows, and there are {rows.shape[0]} samples")


def beside(estimator: Any, samples: Matched, nuisance: Any, missing: str, robust: bool = False, extra: Any = None,
           before: Optional[_core.Summary] = None) -> Matched:
    """The same with the values of a nuisance as the last domain; those before had such, or had none."""
    if before is not None and (nuisance is not None) != (matched_domains(before) < len(before.n_features)):
        raise ValueError("nuisance must be given with the first samples and with all others, or never")
    if nuisance is None:
        if as_flag("nuisance_unknown", estimator.nuisance_unknown):
            raise ValueError("nuisance_unknown needs the nuisance of the samples to fit: fit(X, Y, nuisance=Z)")
        return samples
    if missing != "error" or robust or extra is not None:
        raise ValueError("nuisance goes without missing, robust and extra: leave out samples with NaN first")
    if any(device.is_there(rows) for rows in samples.arrays):
        raise ValueError("nuisance needs arrays in host memory")
    values, names = encoded(nuisance, None if before is None else before.feature_names[-1])
    tables.check_rows([samples.arrays[0], values], ["X", "nuisance"])
    check_count(values, samples.arrays[0])
    domain_names = None if samples.domain_names is None else [*(name or "" for name in samples.domain_names), ""]
    return samples._replace(arrays=[*samples.arrays, values], domain_names=domain_names,
                            feature_names=[*samples.feature_names, names], nuisance=True)


def weighed(estimator: Any, samples: Matched) -> Matched:
    """The same, each pair weighed by the probability that it is right."""
    if len(samples.arrays) != 2:
        raise ValueError(f"robust checks the pairs of two domains, and there are {len(samples.arrays)}")
    if any(device.is_there(rows) for rows in samples.arrays) or estimator.calibrate is not None:
        raise ValueError("robust needs arrays in host memory, and no calibrate")
    check = checked(*(rows.toarray() if tables.is_sparse(rows) else rows for rows in samples.arrays))
    if not check.informative:
        raise ValueError(f"no pair can be judged: {'; '.join(check.remarks)}")
    for remark in check.remarks:
        warn_user(remark, FitWarning)
    if check.suspects:
        warn_user(f"{len(check.suspects)} of {len(check.probability)} pairs are probably wrong and count little; "
                  "pair_check_ has them", FitWarning)
    estimator.pair_check_ = check
    weights = check.probability if samples.weights is None else check.probability * samples.weights
    return samples._replace(weights=weights)


def refuse_device(estimator: Any, arrays: Sequence[Any], missing: str) -> None:
    """Refuses what cannot be done with arrays on a GPU; the library checks their numbers there."""
    name = next((name for rows, name in zip(arrays, labels(len(arrays))) if device.is_there(rows)), None)
    if name is not None and estimator.device == "cpu":
        raise ValueError(f"{name} lies on a GPU, and device is 'cpu': set device='cuda', or copy it to host memory")
    if name is not None and (missing != "error" or estimator.calibrate is not None):
        what = "calibrate" if missing == "error" else f"missing='{missing}'"
        raise ValueError(f"{name} lies on a GPU; {what} needs arrays in host memory")


def new_summary(estimator: Any, samples: Matched, missing: str = "error") -> Any:
    """An empty summary for such samples."""
    if missing == "keep":
        return _core.IncompleteSummary(*(rows.shape[1] for rows in samples.arrays), accumulate=estimator.accumulate,
                                       names=samples.domain_names, feature_names=samples.feature_names)
    return _core.Summary(*(rows.shape[1] for rows in samples.arrays), accumulate=estimator.accumulate,
                         names=samples.domain_names, feature_names=samples.feature_names, device=estimator.device,
                         nuisance=samples.nuisance)


# Samples to use


def taken(estimator: Any, X: Any, domain: int, m: int, *, first: bool = False, strict: bool = False,
          least: int = 1) -> Any:
    """Samples of one of m domains: an array, a sparse matrix or a `DeviceArray`, with the columns in order.

    `first`: they decide what later ones must be. `strict`: columns in another order are an error.
    """
    name = label(domain, m)
    X = device.taken(X, name)
    if device.is_there(X):
        if first and domain == 1:
            estimator._keep_names(None, X.shape[1])
        return X
    if domain > 1:
        X = X if first else tables.in_order(X, estimator._names(domain), name, strict=strict)
        return as_columns(X, name, finite=False, accept_sparse="csr")
    # Domain 1, as scikit-learn checks X, with the names of any table, not pandas' alone.
    tables.refuse_complex(X, name)
    names, by_pandas = tables.names_of(X), tables.is_pandas(X)
    if not first and not (strict and by_pandas):  # scikit-learn itself checks the order of pandas' columns
        X = tables.in_order(X, vars(estimator).get("feature_names_in_"), name, strict=strict)
    numbers = tables.plain(X)  # or a ValueError that names the columns without any
    options: dict[str, Any] = {"dtype": "numeric", "accept_sparse": "csr", "finite": False,
                               "ensure_min_samples": least}
    if by_pandas:
        X = X if numbers is X else tables.like(X, numbers, list(X.columns))
        return validate_data(estimator, X, reset=first, **options)
    if names is None:
        return validate_data(estimator, numbers, reset=first, **options)
    X = check_array(numbers, input_name="X", estimator=estimator, **options)
    if first:
        estimator._keep_names(names, X.shape[1])
    check_n_features(estimator, X)
    return X


def dense(estimator: Any, domain: int, X: Any, strict: bool = False) -> Any:
    """Samples as an array in host memory."""
    m = len(estimator._domain_names())
    X = taken(estimator, X, domain, m, strict=strict)
    if device.is_there(X):
        raise TypeError(f"{label(domain, m)} lies on a GPU; here arrays in host memory are needed")
    return X.toarray() if tables.is_sparse(X) else X


def finite(estimator: Any, domain: int, X: Any, strict: bool = False) -> Any:
    """The same without NaN and infinity."""
    message = nan_message(estimator, domain, "leave such samples out")
    return tables.map_rows(dense(estimator, domain, X, strict), lambda rows: rows, "error", message)


def with_nuisance(estimator: Any, rows: Any, nuisance: Any, kept: Any = slice(None)) -> Any:
    """Samples of a domain beside the values of a nuisance that the maps need, for the `kept` ones of which they are."""
    model = estimator._fitted()
    if model.nuisance_values == 0:
        if nuisance is not None:
            raise ValueError("these maps need no nuisance; leave it out")
        return rows
    if nuisance is None:
        raise ValueError("the fit had a nuisance: give its values for these samples, as nuisance=Z")
    values = encoded(nuisance, model.nuisance()["names"])[0][kept]
    check_count(values, rows)
    if values.shape[1] != model.nuisance_values:
        raise ValueError(f"nuisance has {values.shape[1]} values a sample; the fit had {model.nuisance_values}")
    return np.hstack([rows.toarray() if tables.is_sparse(rows) else rows, values])


def mapped(estimator: Any, X: Any, domain: int, missing: str, function: Any, *, strict: bool = False,
           nuisance: Any = None) -> Any:
    """function(rows) for the samples of a domain, with NaN as `missing` says."""
    as_choice("missing", missing, ("error", "pass"))
    message = nan_message(estimator, domain, "missing='pass' makes rows of NaN of them")
    rows = taken(estimator, X, domain, len(estimator._domain_names()), strict=strict)
    if nuisance is not None or estimator._fitted().nuisance_values > 0:
        rows = with_nuisance(estimator, dense(estimator, domain, X, strict), nuisance)
    if not device.is_there(rows):
        return tables.map_rows(rows, function, missing, message)
    if not rows._all_finite():  # on a GPU rows with NaN become rows of NaN by themselves
        tables.map_rows(rows.numpy(), lambda own: own, missing, message)
    return device.like(X, function(rows))


def nan_message(estimator: Any, domain: int, advice: str) -> Callable[[Any, int], Optional[str]]:
    name = label(domain, len(estimator._domain_names()))
    return lambda rows, before: tables.nan_message(rows, name, domain, estimator._names(domain), advice, before)


def all_finite(estimator: Any, X: Any, y: Any, method: str) -> List[Any]:
    """Samples of all domains, without NaN, as many of each."""
    present = all_given(X, y, estimator._domain_names(), method)
    check_rows(estimator, present)
    return [finite(estimator, *one) for one in present]


def check_rows(estimator: Any, present: Sequence[Tuple[int, Any]], sample_weight: Any = None) -> None:
    called = labels(len(estimator._domain_names()))
    tables.check_rows([rows for _, rows in present] + [sample_weight],
                      [called[domain - 1] for domain, _ in present] + ["sample_weight"])


def sources(estimator: Any, X: Any, source: Any) -> List[Tuple[int, Any]]:
    """(number, samples) of each domain to translate from."""
    names = estimator._domain_names()
    if is_dict(X) and source is not None:
        raise ValueError("a dict of samples says itself which domains they are of; leave source out")
    if holds_domains(X) and source is None:
        return by_number(X, names)
    if source is None and len(names) != 2:
        raise ValueError(f"source must say which of the {len(names)} domains the samples are of")
    source = source if isinstance(source, (list, tuple)) else [2 if source is None else source]
    X = X if holds_domains(X) else [X]
    if len(source) != len(X):
        raise ValueError(f"source names {len(source)} of the domains, and there are {len(X)} arrays")
    return [(number_of(domain, names), rows) for domain, rows in zip(source, X)]


def translated_together(estimator: Any, sources: List[Tuple[int, Any]], to: int, missing: str, with_errors: bool,
                        probability: Optional[float], nuisance: Any = None) -> List[Any]:
    """Translations from several domains, and their errors if asked for. A sample that has none is refused, or NaN."""
    as_choice("missing", missing, ("error", "pass"))
    check_rows(estimator, sources)
    numbers, arrays = [domain for domain, _ in sources], [dense(estimator, *one) for one in sources]
    kept = np.ones(len(arrays[0]), bool)
    if missing == "pass" and len({len(rows) for rows in arrays}) == 1:
        kept = ~np.all([tables.rows_with_nan(rows) for rows in arrays], axis=0)
        arrays = arrays if kept.all() else [rows[kept] for rows in arrays]
    arrays = [with_nuisance(estimator, rows, nuisance, kept) for rows in arrays]
    found = estimator._fitted().estimate(numbers, arrays, to, with_errors, probability)
    return [rows if kept.all() else tables.among(rows, kept) for rows in found]
