"""A running Label Studio as the place where people answer: its REST interface, and a design that follows it."""
