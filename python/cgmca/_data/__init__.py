"""Samples as people hold them: lists and dicts of domains, tables, arrays on a GPU, files."""
