"""What was known when: assets, calendars, price sources, checks, and the sealed market context."""
