"""Prices of the moment: the venues that are asked, behind one protocol."""
