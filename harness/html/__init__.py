"""One page of HTML about a comparison, for a browser without a network. `page` is what others need."""

from harness.html.page import page

__all__ = ["page"]
