"""CSV tables for the tests of documents."""


def write_table(path, X, names, samples, gaps):
    with open(path, "w") as file:
        file.write("sample," + ",".join(names) + "\n")
        for j in samples:
            cells = ("NA" if (j, k) in gaps else repr(float(x)) for k, x in enumerate(X[j]))
            file.write(f"s{j}," + ",".join(cells) + "\n")
