"""Beliefs about people and items of questionnaires, and the bank of items that tests are made of."""
