"""Words of the domain: actions, statuses, types, ids, rows, errors, clock, settings. Imports nothing of ours."""
