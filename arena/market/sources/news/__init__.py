"""Sources of news, one module each, behind `base.NewsSource`."""
