"""The tests mirror the package; shared rows and toys are imported as ``tests.room.module``."""
