"""What bench/run.py leaves: latest.json, table.md and plot.svg."""

import json
import os
import pathlib
from html import escape

import numpy as np


def write(bench, growth):
    folder = pathlib.Path(bench.options.out)
    folder.mkdir(parents=True, exist_ok=True)
    machine = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    about = {"machine": machine, "threads": bench.options.threads,
             "kernels": os.environ.get("OPENBLAS_CORETYPE", "OpenBLAS's choice"),
             "dgemm_gflops": bench.limits["dgemm"] / 1e9, "copy_gbytes": bench.limits["copy"] / 1e9}
    (folder / "latest.json").write_text(json.dumps(
        {**about, "rows": bench.rows, "skipped": bench.skipped, "growth": growth, "short": bench.complaints}, indent=1) + "\n")
    (folder / "table.md").write_text(table(bench, growth, about))
    (folder / "plot.svg").write_text(plot(bench.rows, growth))


def both(row, what, form):
    theirs = row.get(f"peer_{what}")
    return "" if row.get(what) is None else format(row[what], form) + (f" / {theirs:{form}}" if theirs is not None else "")


def table(bench, growth, about):
    lines = [f"{about['machine']}, {about['threads']} threads, kernels {about['kernels']}: dgemm {about['dgemm_gflops']:.0f} Gflop/s, "
             f"copy {about['copy_gbytes']:.1f} GB/s", "",
             "| work | peer | ours, s | peer, s | ratio | target | MB: ours / peer | residual: ours / peer | gap: ours / peer | "
             "limit, s | share |", "|" + "---|" * 11]
    for row in bench.rows:
        if "several" in row:
            continue
        lines.append(f"| {row['work']} | {row['peer']} | {row['ours_s']:.3f} | {row['peer_s']:.3f} | {row['ratio']:.1f} | {row['target']} | "
                     f"{row['ours_mb']:.0f} / {row['peer_mb']:.0f} | {both(row, 'residual', '.0e')} | {both(row, 'gap', '.0e')} | "
                     f"{row['limit_s']:.3f} | {100 * row['share']:.0f} % |")
    lines += several_table([row for row in bench.rows if "several" in row])
    lines += ["", "Where our time goes, in hundredths of it (work on several threads at once counts for each):", "",
              "| work | product | triangle | gram | qr | eigen | svd |", "|" + "---|" * 7]
    done = set()
    for row in bench.rows:
        if row["work"] in done:
            continue
        done.add(row["work"])
        shares = " | ".join(f"{100 * row['profile'][kind]:.0f}" if kind in row["profile"] else ""
                            for kind in ("product", "triangle", "gram", "qr", "eigen", "svd"))
        lines.append(f"| {row['work']} | {shares} |")
    if growth:
        lines += ["", "| n | d | threads | seconds | MB: ours / NumPy Algorithm 1 |", "|" + "---|" * 5]
        for row in growth:
            peer = f" / {row['peer_mb']:.0f}" if "peer_mb" in row else ""
            lines.append(f"| {row['n']} | {row['d']}+{row['d']} | {row['threads']} | {row['seconds']:.3f} | {row['ours_mb']:.0f}{peer} |")
    lines += ["", *(f"- skipped: {row['work']} against {row['peer']}: {row['why']}" for row in bench.skipped),
              *(f"- short of what is wanted: {complaint}" for complaint in bench.complaints)]
    return "\n".join(lines).rstrip() + "\n"


def several_table(rows):
    """More than two domains: what each side constrains and reaches."""
    if not rows:
        return []
    lines = ["", "More than two domains (bench/several.py says what f and the peer's criterion are):", "",
             "| work | peer | ours, s | peer, s | ratio | MB: ours / peer | covariance off, worst view: ours / peer | "
             "f: ours / peer made feasible | peer's own criterion: ours / peer / its optimum | comparable |", "|" + "---|" * 10]
    for row in rows:
        found = row["several"]
        proof = "proven" if found["certified"] else f"within {found['gap_of_f']:.0e}"
        why = "f" if found["exact"] else "f; by its own criterion not, as it fixes only the sum over views"
        lines.append(f"| {row['work']} | {row['peer']} | {row['ours_s']:.3f} | {row['peer_s']:.3f} | {row['ratio']:.2f} | "
                     f"{row['ours_mb']:.0f} / {row['peer_mb']:.0f} | {max(found['residuals'][0]):.0e} / {max(found['residuals'][1]):.0e} | "
                     f"{found['f'][0]:.5f} ({proof}) / {found['f'][1]:.5f} | {found['own'][0]:.5f} / {found['own'][1]:.5f} / {found['own'][2]:.5f} | {why} |")
    return lines


def plot(rows, growth):
    """Ratios as bars on a logarithmic scale, targets as marks; below, how cost grows."""
    left, unit, top = 480, 78, 44
    parts = [f'<text x="{left}" y="18" font-size="13">peer time / our time (mark: target)</text>']
    scale = lambda ratio: left + unit * np.log2(max(ratio, 0.5) * 2)  # noqa: E731
    height = top + 26 * len(rows)
    for tick in (0.5, 1, 2, 4, 8, 16, 32, 64):
        parts.append(f'<line x1="{scale(tick):.1f}" x2="{scale(tick):.1f}" y1="{top - 8}" y2="{height}" stroke="#ddd"/>'
                     f'<text x="{scale(tick):.1f}" y="{top - 12}" text-anchor="middle" fill="#666">{tick:g}</text>')
    for k, row in enumerate(rows):
        y = top + 26 * k
        parts.append(f'<text x="{left - 8}" y="{y + 9}" text-anchor="end">{escape(row["work"])}</text>'
                     f'<text x="{left - 8}" y="{y + 20}" text-anchor="end" fill="#666" font-size="9">{escape(row["peer"])}</text>'
                     f'<rect x="{left}" y="{y + 2}" width="{scale(row["ratio"]) - left:.1f}" height="16" fill="#1f5fd0"/>'
                     f'<line x1="{scale(row["target"]):.1f}" x2="{scale(row["target"]):.1f}" y1="{y - 1}" y2="{y + 21}" '
                     f'stroke="#d1480c" stroke-width="2.5"/>'
                     f'<text x="{scale(row["ratio"]) + 5:.1f}" y="{y + 14}">{row["ratio"]:.1f}</text>')
    if growth:
        height += 40
        for panel, (what, slope, label) in enumerate((("n", 1, "samples n, d 200+200"), ("d", 2, "features d, n 20,000"))):
            chosen = [row for row in growth if row["what"] == what]
            x0, y0, size = 90 + 520 * panel, height, 220
            xs, ys = [row[what] for row in chosen], [row["seconds"] for row in chosen]
            span = max(np.log2(xs[-1] / xs[0]), 1)
            low = min(ys) / 2
            high = max(max(ys), ys[0] * (xs[-1] / xs[0]) ** slope) * 1.5
            px = lambda x: x0 + 380 * np.log2(x / xs[0]) / span  # noqa: E731
            py = lambda t: y0 + size - size * np.log(t / low) / np.log(high / low)  # noqa: E731
            parts.append(f'<text x="{x0}" y="{y0 - 8}" font-size="13">seconds by {label} (line: slope {slope})</text>'
                         f'<rect x="{x0 - 10}" y="{y0}" width="400" height="{size}" fill="none" stroke="#ddd"/>'
                         f'<line x1="{px(xs[0]):.1f}" y1="{py(ys[0]):.1f}" x2="{px(xs[-1]):.1f}" '
                         f'y2="{py(ys[0] * (xs[-1] / xs[0]) ** slope):.1f}" stroke="#d1480c" stroke-dasharray="4 3"/>')
            for x, t in zip(xs, ys):
                parts.append(f'<circle cx="{px(x):.1f}" cy="{py(t):.1f}" r="4" fill="#1f5fd0"/>'
                             f'<text x="{px(x):.1f}" y="{py(t) - 8:.1f}" text-anchor="middle">{t:.2f}</text>'
                             f'<text x="{px(x):.1f}" y="{y0 + size + 14}" text-anchor="middle" fill="#666">{x}</text>')
        height += 260
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1080 {height + 10}" font-family="sans-serif" font-size="11">'
            f'<rect width="1080" height="{height + 10}" fill="white"/>{"".join(parts)}</svg>\n')
