"""Maps, translations and fusions as ONNX graphs, for ONNX Runtime and other runtimes without cgmca."""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np

from .._data.domains import number_of

_OPSET = 17  # MatMul, Sub, Add, Mul, Sqrt, ReduceSum, Concat: in every runtime since 2021


class _Graph:
    """Nodes and constants of one graph; each method adds a node and gives the name of its output."""

    def __init__(self, onnx: Any, dtype: Any) -> None:
        self.onnx, self.dtype = onnx, np.dtype(dtype)
        self.nodes: List[Any] = []
        self.constants: List[Any] = []
        self.inputs: List[Any] = []
        self.outputs: List[Any] = []

    def _value(self, name: str, features: int) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype)
        return self.onnx.helper.make_tensor_value_info(name, kind, ["samples", features])

    def input(self, name: str, features: int) -> str:
        self.inputs.append(self._value(name, features))
        return name

    def output(self, name: str, value: str, features: int) -> None:
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self.outputs.append(self._value(name, features))

    def constant(self, value: Any, dtype: Any = None) -> str:
        name = f"constant_{len(self.constants)}"
        array = np.ascontiguousarray(value, dtype=dtype or self.dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def centred(self, X: str, mean: Any) -> str:
        """X less the mean, in two steps in single precision: rounding of a large mean would move every sample."""
        rounded = np.asarray(mean, dtype=self.dtype).astype(np.float64)
        X = self.add("Sub", X, self.constant(rounded))
        return X if self.dtype == np.float64 else self.add("Sub", X, self.constant(mean - rounded))

    def times(self, X: str, *factors: Any) -> str:
        """X F1 F2 … for samples in rows."""
        for factor in factors:
            X = self.add("MatMul", X, self.constant(factor))
        return X

    def finished(self, doc: str, metadata: Dict[str, str]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "cgmca", self.inputs, self.outputs, self.constants, doc_string=doc)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="cgmca",
                                  ir_version=8)
        helper.set_model_props(model, metadata)
        self.onnx.checker.check_model(model, full_check=True)
        return model


def to_onnx(model: Any, what: str = "translate", *, source: Any = None, target: Union[int, str] = 1,
            domain: Union[int, str] = 1, domains: Optional[Sequence[Union[int, str]]] = None,
            return_std: bool = False, return_interval: Optional[float] = None, dtype: Any = "float64") -> Any:
    """A fitted estimator as an ONNX graph.

    Its inputs are the samples, one a row: ``X1``, ``X2``, … by the number of the domain, or the domain's name. The
    number of samples is open. Standard operators of opset 17 only.

    Parameters
    ----------
    model : CGMCA or MCA
        Fitted.
    what : {'translate', 'apply', 'fuse'}
        The translation from one domain or several to another by the best linear estimate (output ``translated``), the
        map of one domain into the common space (``mapped``), or the best estimate of the mean of all domains' points
        from some of them (``fused``).
    source : int, str or list of these, optional
        Of a translation: where it comes from; default: all other domains.
    target : int or str
        Of a translation: where it goes.
    domain : int or str
        Of 'apply'.
    domains : list of int or str, optional
        Of 'fuse': the domains that are present; default: all.
    return_std : bool
        Adds the output ``standard_error`` of new samples to a translation.
    return_interval : float, optional
        Adds ``lower`` and ``upper`` to a translation, between which a true value lies with this probability.
    dtype : {'float64', 'float32'}
        Of inputs, constants and outputs.

    Returns
    -------
    onnx.ModelProto
        Save it by ``onnx.save(graph, "translate.onnx")``.

    Notes
    -----
    Needs the package onnx. Samples are centred before they are multiplied, so that single precision will do also where
    means are large. NaN comes out as NaN.

    Examples
    --------
    >>> import numpy as np, cgmca
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> graph = cgmca.to_onnx(cgmca.MCA().fit(X, Y), "apply", domain=2)  # doctest: +SKIP
    >>> graph.graph.input[0].name, graph.graph.output[0].name            # doctest: +SKIP
    ('X2', 'mapped')
    """
    if what not in ("translate", "apply", "fuse"):
        raise ValueError(f"what is {what!r}; give 'translate', 'apply' or 'fuse'")
    if np.dtype(dtype) not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype is {dtype!r}; give 'float64' or 'float32'")
    if what != "translate" and (return_std or return_interval is not None):
        raise ValueError("only a translation has standard errors and intervals")
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from None
    fitted, names = model._fitted(), model._domain_names()
    if fitted.nuisance_values > 0:
        raise ValueError("the maps take the values of a nuisance beside a sample, for which a graph has no input")
    graph = _Graph(onnx, dtype)
    if what == "apply":
        number = number_of(domain, names)
        t = graph.centred(graph.input(_name(number, names), fitted.features(number)), fitted.means[number - 1])
        graph.output("mapped", graph.times(t, fitted.weights(number).T, fitted.mixing(number).T), fitted.common_dimension)
        doc = f"domain {number} in the common space"
    elif what == "translate":
        to = number_of(target, names)
        doc = _translate(graph, fitted, names, _sources(source, to, names, fitted), to, return_std, return_interval)
    else:
        doc = _fuse(graph, fitted, names, domains)
    return graph.finished(doc, {"cgmca": what, "matched_samples": str(fitted.samples)})


def _name(number: int, names: Sequence[Optional[str]]) -> str:
    return names[number - 1] or f"X{number}"


def _sources(source: Any, to: int, names: Sequence[Optional[str]], fitted: Any) -> List[int]:
    if source is None:
        return [number for number in range(1, len(names) + 1) if number != to and fitted.means[number - 1] is not None]
    return [number_of(one, names) for one in (source if isinstance(source, (list, tuple)) else [source])]


def _stacked(graph: _Graph, fitted: Any, names: Sequence[Optional[str]], numbers: Sequence[int]) -> str:
    inputs = [graph.input(_name(number, names), fitted.features(number)) for number in numbers]
    return inputs[0] if len(inputs) == 1 else graph.add("Concat", *inputs, axis=1)


def _translate(graph: _Graph, fitted: Any, names: Sequence[Optional[str]], sources: List[int], to: int,
               return_std: bool, interval: Optional[float]) -> str:
    probability = interval if interval is not None else 0.5 if return_std else None  # says so where no error is known
    found = fitted.translation(sources, to, probability)
    moved = graph.centred(_stacked(graph, fitted, names, sources), found["mean_from"])
    t = graph.times(moved, found["right"].T)
    translated = graph.add("Add", graph.times(t, found["left"].T), graph.constant(found["mean_to"]))
    if found["identity"]:
        translated = graph.add("Add", translated, moved)
    features = len(found["mean_to"])
    graph.output("translated", translated, features)
    if return_std or interval is not None:  # s_f √(1 + 1/n + tᵀ G t / (n-1))                                       (29)
        n = found["total_weight"]
        Gt = graph.times(t, found["G"] / (n - 1))
        axis = graph.constant([1], np.int64)
        leverage = graph.add("ReduceSum", graph.add("Mul", t, Gt), axis, keepdims=1)
        spread = graph.add("Sqrt", graph.add("Add", leverage, graph.constant([1 + 1 / n])))
        if return_std:
            graph.output("standard_error", graph.add("Mul", spread, graph.constant(found["scale"])), features)
        if interval is not None:
            width = graph.add("Mul", spread, graph.constant(found["half_width"]))
            graph.output("lower", graph.add("Sub", translated, width), features)
            graph.output("upper", graph.add("Add", translated, width), features)
    return f"domain {to} translated from {', '.join(_name(number, names) for number in sources)}"


# (1/m) Σ_i E[z_i | x_J], where E[z_i | x_J] = A_i (x_i - μ_i) for i in J, and A_i applied to the translation else. (31)
def _fuse(graph: _Graph, fitted: Any, names: Sequence[Optional[str]], domains: Any) -> str:
    m = len(names)
    given = [number_of(one, names) for one in domains] if domains is not None else list(range(1, m + 1))
    if not given or len(set(given)) < len(given):
        raise ValueError(f"domains is {domains!r}; give each domain that is present once")
    X = graph.centred(_stacked(graph, fitted, names, given), np.concatenate([fitted.means[one - 1] for one in given]))
    parts = []
    for number in range(1, m + 1):
        if number not in given:
            found = fitted.translation(given, number, None)
            if found["identity"]:
                raise ValueError("the fusion of a model towards identity is not exported; export its translation")
            parts.append(found["right"].T @ (found["left"].T @ fitted.matrices[number - 1].T))
            continue
        sizes = [fitted.features(one) for one in given]
        first = sum(sizes[:given.index(number)])
        part = np.zeros((sum(sizes), fitted.common_dimension))
        part[first:first + fitted.features(number)] = fitted.matrices[number - 1].T
        parts.append(part)
    graph.output("fused", graph.times(X, sum(parts) / m), fitted.common_dimension)
    return f"the mean of all {m} domains' points from {', '.join(_name(number, names) for number in given)}"


def main(model: str, file: str, keywords: str) -> None:
    """What ``cgmca export --onnx`` runs: writes the graph of a model's file to another, and prints what it takes and
    gives, as JSON. What the model does not allow is one line, and the exit status 3."""
    import onnx

    from .files import load

    try:
        graph = to_onnx(load(model), **json.loads(keywords))
    except ValueError as problem:
        print(" ".join(str(problem).split()))
        sys.exit(3)
    onnx.save(graph, file)
    sizes = [{one.name: one.type.tensor_type.shape.dim[1].dim_value for one in side}
             for side in (graph.graph.input, graph.graph.output)]
    print(json.dumps({"inputs": sizes[0], "outputs": sizes[1], "opset": graph.opset_import[0].version}))
