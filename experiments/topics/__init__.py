"""Topics that know the metadata: bridges, completion, streams, what to read."""
