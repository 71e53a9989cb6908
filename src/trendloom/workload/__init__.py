"""Many queries at once: what they share, and how one pass answers all of them."""
