"""`python -m tools.digits digits.csv.gz`: write `assets/digits/digits.npz` from the table that scikit-learn carries.

The table is `sklearn/datasets/data/digits.csv.gz` of scikit-learn: a line for each image, with 64 grey values from 0 to
16 and the digit. It is the test set of "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak 1998).
"""

import sys

import numpy as np

from attnviz.toys.tasks.digits import FILE, SIDE


def main(table: str) -> None:
    """Read the table, and write its images and digits without changing any value."""
    rows = np.loadtxt(table, delimiter=",").astype(np.uint8)
    FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(FILE, images=rows[:, :-1].reshape(-1, SIDE, SIDE), digits=rows[:, -1])
    print(f"{FILE.name}: {len(rows):,} images, {FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1])
