"""Rows that estimators learn from: tables, labels, scales of columns, projections of rows, leave-one-out."""
