"""Pages of HTML about a comparison or a check, for a browser without a network."""

from harness.html.page import check_page, comparison_page

__all__ = ["check_page", "comparison_page"]
