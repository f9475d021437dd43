#!/usr/bin/env python3
"""One table of what bench_cuda and torch_rows.py printed, as docs/benchmarks.md has it: bench/gpu/table.py FOLDER"""
import json
import pathlib
import sys


def lines(path):
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("{"):
                yield json.loads(line)


folder = pathlib.Path(sys.argv[1])
torch = {(r["d"], r["n"], r["way"]): r for r in lines(folder / "torch.jsonl") if "d" in r}
rate = next((r["dgemm"] for r in lines(folder / "torch.jsonl") if "dgemm" in r), None)
print(f"dgemm {rate:.1f} TFLOP/s\n" if rate else "dgemm not measured\n")
print("| d1 = d2, n | covariance | data | obvious PyTorch | best PyTorch | ours, maps on the device | maps on the host "
      "| share of dgemm in the sum | residual | against the CPU | route |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for r in lines(folder / "rows.jsonl"):
    d, n = r["d"], r["n"]

    def peer(way):
        return f"{torch[d, n, way]['median']:.3f}" if (d, n, way) in torch else ""

    needed = n * (2 * d) ** 2 / 1e12  # a symmetric update of 2d features
    share = f"{100 * needed / r['add'] / rate:.0f} %" if rate else ""
    against = f"{r['against_cpu']:.0e}" if r["against_cpu"] >= 0 else ""
    print(f"| {d:,}, {n:,} | {r['spec']} | {'host' if r['host'] else 'device'} | {peer('obvious')} | {peer('best')} "
          f"| {r['median']:.3f} | {r['to_host_model']:.3f} | {share} | {r['residual']:.0e} | {against} | {r['route']} |")
print()
for r in lines(folder / "rows.jsonl"):
    parts = "  ".join(f"{name} {r[name]:.4f}" for name in ("add", "factorize", "svd", "solve", "certify"))
    print(f"{r['d']:6d} {r['n']:6d} {r['spec']:14s} {'host  ' if r['host'] else 'device'} {parts}  least {r['least']:.4f}")
