"""Banks of items from arrays, and as files: ours, and those of mirt, catR, catsim and jsCAT, read and written."""
