"""Sources of filed figures, behind `base.FilingsSource`."""
