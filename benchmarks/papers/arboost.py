"""AR-Boost's experiments: its chi-square example, and errors beside those of its rivals.

    python -m benchmarks.papers.arboost chi-square  # section 3.2, a minute
    python -m benchmarks.papers.arboost tables      # Figures 7 and 8, some minutes
    python -m benchmarks.papers.arboost tables --seeds 1
    python -m benchmarks.papers.arboost speed       # beside scikit-learn's AdaBoostClassifier

``chi-square``: 2,000 training and 10,000 test rows of ten normal features; the class is whether the
sum of their squares is below its median.  Stumps, 400 rounds.  Stumps of one direction ("+1 up to a
value, -1 above", and never the other way round) stand for weak learners that cannot be turned
round; they are plain numpy, to see whether the paper's claim is about them.

``tables``: the data sets of the paper's Table 1, as many training rows as there, drawn anew for
every seed, the rest for testing; 100 rounds of stumps for two classes and of trees of 8 leaves for
more.  Each method's own parameter is chosen on the training rows by five-fold cross-validation.
Label noise (two classes): so many of the training labels are flipped.
"""

import time

import numpy as np
from scipy.stats import chi2, ttest_1samp
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

import properboost as pb
from benchmarks.lib.cli import make_plain_parser
from properboost.datasets import load_uci
from properboost.reproduce.pinned import make_votes

BINARY = {
    "ionosphere": 238,
    "german": 675,
    "pima": 531,
    "wpbc": 141,
    "wdbc": 423,
    "spambase": 3215,
}
MULTICLASS = {
    "vowel": 528,
    "new_thyroid": 160,
    "segment": 210,
    "satimage": 4435,
    "pendigits": 7494,
}

TWO_CLASSES = {
    "CART": (pb.CART(), {"max_leaf_nodes": [2, 4, 8, 16, 32]}),
    "AdaBoost": (make_votes(), {}),
    "epsilon": (pb.EpsilonBoost(), {"learning_rate": [0.05, 0.1, 0.3, 1.0]}),
    "L1": (pb.L1Boost(), {"rho": [(1 - b) / (1 + b) for b in (0.0, 0.01, 0.03, 0.1, 0.2)]}),
    "reg": (pb.AdaBoostReg(), {"mistrust": [0.0, 0.01, 0.03, 0.1, 0.3]}),
    "WeightBoost": (pb.WeightBoost(), {"damping": [0.0, 0.1, 0.3, 0.5, 0.9]}),
    "AR-Boost": (make_votes(), {"rho": [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0]}),
}
TREE = {"weak_learner": "tree", "max_leaf_nodes": 8}
MORE_CLASSES = {
    "AdaBoost.MH": (pb.AdaBoostMH(**TREE), {}),
    "SAMME": (pb.SAMME(**TREE), {}),
    "AR-Boost": (make_votes(**TREE), {"rho": [1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0]}),
}


def error(method, grid, X, y, X_test, y_test):
    """Test error of a method whose parameter is chosen on the training rows."""
    model = GridSearchCV(method, grid, cv=5, error_score="raise") if grid else method
    return np.mean(model.fit(X, y).predict(X_test) != y_test)


def print_table(title, methods, rows):
    """Errors in percent, with the paired difference to AR-Boost over the seeds."""
    print(f"\n{title}")
    print(f"{'':14}" + "".join(f"{name:>13}" for name in methods))
    for label, errors in rows.items():
        print(f"{label:14}" + "".join(f"{100 * e:13.2f}" for e in errors.mean(axis=0)))
        last = errors[:, -1]
        notes = []
        for k in range(len(methods) - 1):
            paired = 100 * (errors[:, k] - last)
            p = ttest_1samp(paired, 0.0).pvalue if np.ptp(paired) > 0 else np.nan
            notes.append(f"{paired.mean():+.2f} p{p:.2f}")
        print(f"{'  less AR':14}" + "".join(f"{note:>13}" for note in notes))


def load(name):
    found = load_uci(name, return_X_y=True)
    return found[0], np.asarray(found[1])


def compare(title, methods, sets, seeds, noise=0.0):
    """Print the errors of all methods on all sets."""
    rows = {}
    for name, n_train in sets.items():
        X, y = load(name)
        errors = np.empty((seeds, len(methods)))
        for seed in range(seeds):
            X_train, X_test, y_train, y_test = train_test_split(
                X, y, train_size=n_train, stratify=y, random_state=seed
            )
            classes = np.unique(y)
            rng = np.random.default_rng(seed)
            flipped = rng.random(len(y_train)) < noise
            y_train = np.where(flipped, classes[(y_train == classes[0]).astype(int)], y_train)
            for k, (method, grid) in enumerate(methods.values()):
                errors[seed, k] = error(method, grid, X_train, y_train, X_test, y_test)
        rows[name] = errors
        print(f"  {title}, {name}: done", flush=True)
    rows["mean"] = np.mean(list(rows.values()), axis=0)
    print_table(title, methods, rows)


def tables(seeds):
    compare("Two classes, test error in percent", TWO_CLASSES, BINARY, seeds)
    compare("More classes, test error in percent", MORE_CLASSES, MULTICLASS, min(seeds, 3))
    some = {name: TWO_CLASSES[name] for name in ("CART", "AdaBoost", "AR-Boost")}
    small = {name: n for name, n in BINARY.items() if name != "spambase"}
    for noise in (0.1, 0.2, 0.3):
        compare(f"{noise:.0%} of the training labels flipped", some, small, seeds, noise)


class OneWayStumps:
    """AR-Boost over stumps that say +1 up to a value of a feature and -1 above it."""

    def __init__(self, rho):
        self.rho = rho

    def fit(self, X, y, X_test, y_test, n_rounds):
        side = np.where(y, 1.0, -1.0)
        order = np.argsort(X, axis=0)
        w = np.full(len(y), 1 / len(y))
        raw, raw_test = np.zeros(len(y)), np.zeros(len(y_test))
        for t in range(n_rounds):  # noqa: B007
            # The error of a cut after the k-th row is that of "-1 for all" less what is gained.
            gain = np.cumsum((w * side)[order], axis=0)
            errors = np.sum(w[side > 0]) - gain
            k, j = np.unravel_index(errors.argmin(), errors.shape)
            e = errors[k, j]
            if e >= self.rho / (1 + self.rho) or e <= 0:
                break
            cut = X[order[k, j], j]
            alpha = 0.5 * np.log(self.rho * (1 - e) / e)
            raw += alpha * np.where(X[:, j] <= cut, 1, -1)
            raw_test += alpha * np.where(X_test[:, j] <= cut, 1, -1)
            w = np.exp(-side * raw)
            w /= w.sum()
        errors = np.mean((raw > 0) != y), np.mean((raw_test > 0) != y_test)
        return t + 1, e, *errors


def chi_square():
    rng = np.random.default_rng(0)

    def draw(n):
        X = rng.standard_normal((n, 10))
        return X, np.sum(X**2, axis=1) < chi2(10).median()

    (X, y), (X_test, y_test) = draw(2000), draw(10_000)
    print("stumps                rho   rounds  training error       test error           last e")
    print("                                    at 10  100  end      at 10  100  end")
    for criterion in ("gini", "error"):
        for rho in (1.0, 1.25, 1.5, 2.0, 5.0):
            model = make_votes(rho=rho, n_estimators=400, criterion=criterion).fit(X, y)
            curves = []
            for rows, labels in ((X, y), (X_test, y_test)):
                curve = [np.mean(p != labels) for p in model.staged_predict(rows)]
                curves.append([f"{curve[min(t, len(curve) - 1)]:.3f}" for t in (9, 99, 399)])
            e = model.history_["cost"][-1]
            print(
                f"two-sided, by {criterion:6} {rho:5.2f} {model.n_iter_:7}    "
                f"{' '.join(curves[0])}    {' '.join(curves[1])}    {e:.3f}"
            )
    for rho in (1.0, 5.0):
        rounds, e, train, test = OneWayStumps(rho).fit(X, y, X_test, y_test, 400)
        print(
            f"one-sided, by error  {rho:5.2f} {rounds:7}                {train:.3f}"
            f"                {test:.3f}    {e:.3f}"
        )


def speed():
    """The same rounds as scikit-learn's, on 20,000 rows of 20 normal features; they take turns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20)).astype(np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(len(X))
    y = np.searchsorted(np.quantile(score, [0.25, 0.5, 0.75]), score)
    for classes, labels in ((2, y > 1), (4, y)):
        for depth in (1, 3):
            kind = {} if depth == 1 else {"weak_learner": "tree", "max_depth": depth}
            ours = make_votes(n_estimators=20, **kind)
            theirs = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), n_estimators=20)
            seconds = np.empty((5, 2))
            for turn in range(len(seconds)):
                for k, model in enumerate((ours, theirs)):
                    start = time.perf_counter()
                    model.fit(X, labels)
                    seconds[turn, k] = time.perf_counter() - start
            own, other = np.median(seconds, axis=0)
            print(
                f"{classes} classes, depth {depth}: {1000 * own:.0f} ms, scikit-learn "
                f"{1000 * other:.0f} ms ({other / own:.0f} times), accuracy "
                f"{ours.score(X, labels):.4f} and {theirs.score(X, labels):.4f}"
            )


def main():
    parser = make_plain_parser(__doc__)
    parser.add_argument("what", nargs="*", default=["chi-square", "speed", "tables"])
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    for what in arguments.what:
        start = time.perf_counter()
        if what == "chi-square":
            chi_square()
        elif what == "tables":
            tables(arguments.seeds)
        elif what == "speed":
            speed()
        else:
            parser.error(f"there is no {what!r}: chi-square, speed or tables")
        print(f"{what}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
