"""The whole table against the reference: for every digit and method |difference of means| <= 3 standard errors of the
difference, and CGMCA above MCA on every digit. Both sides are five random splits.

    build/cgmca reproduce mnist --repeat 5 --json > table.json
    python3 tests/check_mnist_table.py table.json [tests/fixtures/oracle/mnist_table.json]
"""

import json
import pathlib
import statistics
import sys

table = json.load(open(sys.argv[1]))
reference_file = pathlib.Path(__file__).resolve().parent / "fixtures/oracle/mnist_table.json"
oracle = json.load(open(sys.argv[2] if len(sys.argv) > 2 else reference_file))[table["noise"]]
failures = 0
print("digit method     ours ± sd          reference ± sd     difference  3 standard errors")
for row in table["rows"]:
    for place, method in enumerate(("mca", "cgmca")):
        ours = [run[method] for run in row["runs"]]
        reference = [run[place] for run in oracle[str(row["digit"])]]
        sd = [statistics.stdev(values) for values in (ours, reference)]
        limit = 3 * (sd[0] ** 2 / len(ours) + sd[1] ** 2 / len(reference)) ** 0.5
        difference = statistics.mean(ours) - statistics.mean(reference)
        fine = abs(difference) <= limit
        failures += not fine
        print(f"{row['digit']:5} {method:6} {statistics.mean(ours):.4f} ± {sd[0]:.4f}    {statistics.mean(reference):.4f} ± "
              f"{sd[1]:.4f}    {difference:+.4f}     {limit:.4f}{'' if fine else '   OUTSIDE'}")
    if row["cgmca"] <= row["mca"]:
        failures += 1
        print(f"{row['digit']:5} CGMCA does not beat MCA")
print(f"{failures} outside" if failures else "all within")
sys.exit(1 if failures else 0)
