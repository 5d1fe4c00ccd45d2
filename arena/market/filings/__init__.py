"""Filed figures of companies, point in time."""
