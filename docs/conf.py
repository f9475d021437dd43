# Sphinx, called by docs/build-site: from Debian's packages, without the network.
import os

from breathe.renderer.sphinxrenderer import SphinxRenderer, WithContext

project = "cgmca"
author = "the cgmca authors"
copyright = "2026, the cgmca authors"
version = release = os.environ["CGMCA_VERSION"]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
breathe_projects = {"cgmca": os.environ["CGMCA_DOXYGEN_XML"]}
breathe_default_project = "cgmca"
breathe_show_include = False
highlight_language = "none"
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes are described once, where they are defined
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = ["_generated"]

html_theme = "furo"
html_title = f"cgmca {version}"
html_static_path = ["_static"]
html_css_files = ["cgmca.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_button": None}
copybutton_exclude = ".linenos, .gp"


def contents_of_namespace(self, node):
    """Members of a namespace by their full names: each header shows the same namespace, which Sphinx allows once."""
    data = self.compound_parser.parse(node.refid)
    parent = self.context.create_child_context(data)
    with WithContext(self, parent.create_child_context(data.compounddef)):
        return self.render(data, parent)


SphinxRenderer.visit_namespace = contents_of_namespace
