"""Pages of results, made of ``results/claims.json`` alone: a summary, a page per source, a page per domain."""
