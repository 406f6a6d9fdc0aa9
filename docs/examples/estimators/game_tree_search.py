"""
The best move of a position: GameTreeSearch
===========================================

Random games say something about the values of moves under best play, and about how sure these values are. The search
rolls out where it matters for the choice at the root.
"""

import matplotlib.pyplot as plt

from adaptive import GameTreeSearch, plots
from designs.games import TicTacToe

game = TicTacToe([0, 4, 8, 2])  # cross holds two corners, ring the centre and a third one
model = GameTreeSearch(game, results="value", random_state=0).search(150)
print("best move:", model.best_move(), "with probability", round(float(max(model.best_move_proba())), 2))
for move, (low, high) in zip(model.root_moves(), model.interval([(m,) for m in model.root_moves()]), strict=True):
    print(f"  move {move}: value in [{low:+.2f}, {high:+.2f}] with probability 0.9")

# %%
# The tree as far as it was seen most: a bar is the 90% interval of a value, to the right is good for cross.

figure, ax = plt.subplots(figsize=(8, 6))
plots.tree_of_values(model.to_frame(40), ax=ax)
figure.tight_layout()
