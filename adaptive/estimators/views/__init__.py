"""Estimators of scikit-learn seen as ones that can be taught answer by answer."""
