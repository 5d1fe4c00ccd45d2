"""What a person sees: tokens, formats, filters, tables, charts and states. With `shell`, the only
users of streamlit inside the package."""
