"""Rule-based stand-ins for a model: they need no key and no network, and claim to be no model."""
