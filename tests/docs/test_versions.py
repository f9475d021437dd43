"""One version and one author everywhere: CMake, the public header, Python, the citation, Debian and the changelog."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def found(path, pattern):
    match = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    assert match, f"{path} does not have {pattern}"
    return ".".join(match.groups())


def test_all_files_name_the_version_of_cmake():
    version = found("CMakeLists.txt", r"project\(cgmca VERSION ([0-9.]+)")
    assert found("include/cgmca/version.hpp", r"MAJOR (\d+)\n#define CGMCA_VERSION_MINOR (\d+)\n#define CGMCA_VERSION_PATCH (\d+)") == version
    assert found("pyproject.toml", r'^version = "([0-9.]+)"') == version
    assert found("r/DESCRIPTION", r"^Version: ([0-9.]+)") == version
    assert found("CITATION.cff", r"^version: ([0-9.]+)") == version
    assert found("debian/changelog", r"\Acgmca \(([0-9.]+)\)") == version
    assert found("CHANGELOG.md", r"^## ([0-9.]+)") == version


def test_all_files_name_the_same_authors_and_no_address_that_could_exist():
    author = found("LICENSE", r"^Copyright \(c\) \d+ (.+)$")
    assert found("pyproject.toml", r'^authors = \[{ name = "(.+)" }\]$') == author
    assert found("CITATION.cff", r'^  - name: "(.+)"$') == author
    assert found("debian/copyright", r"^Copyright: \d+ (.+)$") == author
    assert f'person("{author[0].upper()}{author[1:]}"' in (ROOT / "r/DESCRIPTION").read_text()
    maintainer = f"{author[0].upper()}{author[1:]} <cgmca@cgmca.invalid>"
    assert found("debian/control", r"^Maintainer: (.+)$") == maintainer
    assert found("debian/changelog", r"^ -- (.+>)  ") == maintainer
