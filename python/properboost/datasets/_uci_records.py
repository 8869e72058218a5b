"""The table behind ``load_uci``: one record a data set."""

import dataclasses

from ._record import Record, SourceFile


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(1, count + 1))


# Ten measures of the cell nuclei in an image, each by its mean, standard error and worst value.
_NUCLEI = tuple(
    f"{statistic}_{measure}"
    for statistic in ("mean", "se", "worst")
    for measure in (
        "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
        "concave_points", "symmetry", "fractal_dimension",
    )
)  # fmt: skip

_SQUARES = ("tl", "tm", "tr", "ml", "mm", "mr", "bl", "bm", "br")

_SPAM_WORDS = (
    "make", "address", "all", "3d", "our", "over", "remove", "internet", "order", "mail",
    "receive", "will", "people", "report", "addresses", "free", "business", "email", "you",
    "credit", "your", "font", "000", "money", "hp", "hpl", "george", "650", "lab", "labs",
    "telnet", "857", "data", "415", "85", "technology", "1999", "parts", "pm", "direct", "cs",
    "meeting", "original", "project", "re", "edu", "table", "conference",
)  # fmt: skip

_ECHOCARDIOGRAM = Record(
    title="Echocardiogram",
    files=(
        SourceFile(
            name="echocardiogram",
            path="echocardiogram/echocardiogram.data",
            sha256="2c5008d32fcdbdd73b5c0deb81b9fb59273e1e8710f4407cf482d9fd861946f2",
        ),
    ),
    columns=(
        "survival", "still-alive", "age-at-heart-attack", "pericardial-effusion",
        "fractional-shortening", "epss", "lvdd", "wall-motion-score", "wall-motion-index", "mult",
        "name", "group", "alive-at-1",
    ),
    target="still-alive",
    classes={"still-alive 0": ("0",), "still-alive 1": ("1",)},
    dropped={
        "survival": "months followed up, part of the outcome",
        "alive-at-1": "the other outcome, derived from survival and still-alive",
        "mult": "derived, to be ignored by the donor's advice",
        "name": "a placeholder for the patient's name",
        "group": "without a meaning, by the donor's word",
    },
    malformed=(49,),
    source="S. Salzberg (1988). Echocardiogram. https://doi.org/10.24432/C5QW24.",
    note=(
        "Patients after a heart attack. According to the archive a still-alive of 1 means alive, "
        "yet the rows with a 1 have a median of 1 month of survival and the sicker hearts, the "
        "rows with a 0 one of 29 months: the labels look exchanged, so the classes keep the "
        "source's numbers as names."
    ),
)  # fmt: skip

RECORDS: dict[str, Record] = {
    # The ten small sets of the BoostLR paper, in the order of its Table 3.
    "sonar": Record(
        title="Connectionist Bench (Sonar, Mines vs. Rocks)",
        files=(
            SourceFile(
                name="sonar",
                path="undocumented/connectionist-bench/sonar/sonar.all-data",
                sha256="33bc2146cac6e3f30adba0316d612ea81a84dccd49f9aca5d52a6957a8b5fe47",
            ),
        ),
        columns=(*_numbered("a", 60), "class"),
        target="class",
        classes={"rock": ("R",), "mine": ("M",)},
        source="T. Sejnowski and R. Gorman (1988). https://doi.org/10.24432/C5T01Q.",
        note="Energy of a sonar echo in 60 frequency bands: is it of a metal cylinder or a rock?",
    ),
    "wpbc": Record(
        title="Breast Cancer Wisconsin (Prognostic)",
        files=(
            SourceFile(
                name="wpbc",
                path="breast-cancer-wisconsin/wpbc.data",
                sha256="fb9b82a8c75c0fb51dca466ca324322d92295bb4f83a65743adf1a1588116815",
            ),
        ),
        columns=("id", "outcome", "time", *_NUCLEI, "tumor_size", "lymph_node_status"),
        target="outcome",
        classes={"nonrecurring": ("N",), "recurring": ("R",)},
        dropped={
            "id": "number of the patient",
            "time": "until the recurrence or the last visit: known only with the outcome",
        },
        source="W. Wolberg, W. Street and O. Mangasarian (1995). https://doi.org/10.24432/C5GK50.",
        note="Does the cancer come back? Missing cells are in lymph_node_status.",
    ),
    "wdbc": Record(
        title="Breast Cancer Wisconsin (Diagnostic)",
        files=(
            SourceFile(
                name="wdbc",
                path="breast-cancer-wisconsin/wdbc.data",
                sha256="4bf4cf6e8686c9e77b0baae08ce9e5e3fb69c4aab2d7596dba8fab94437a6d62",
            ),
        ),
        columns=("id", "diagnosis", *_NUCLEI),
        target="diagnosis",
        classes={"benign": ("B",), "malignant": ("M",)},
        dropped={"id": "number of the patient"},
        source="W. Wolberg, O. Mangasarian, N. Street and W. Street (1993). "
        "https://doi.org/10.24432/C5DW2B.",
    ),
    "breast_cancer_wisconsin": Record(
        title="Breast Cancer Wisconsin (Original)",
        files=(
            SourceFile(
                name="breast_cancer_wisconsin",
                path="breast-cancer-wisconsin/breast-cancer-wisconsin.data",
                sha256="e840242b502e6fbd3246319acd09e69616e9ada1bed79820aa9363ca67f116a3",
            ),
        ),
        columns=(
            "id", "clump_thickness", "size_uniformity", "shape_uniformity", "marginal_adhesion",
            "epithelial_size", "bare_nuclei", "bland_chromatin", "normal_nucleoli", "mitoses",
            "class",
        ),
        target="class",
        classes={"benign": ("2",), "malignant": ("4",)},
        dropped={"id": "number of the sample"},
        source="W. Wolberg (1990). https://doi.org/10.24432/C5HP4Z.",
        note="Grades from 1 to 10. Missing cells are in bare_nuclei.",
    ),
    "heart_cleveland": Record(
        title="Heart Disease (Cleveland)",
        files=(
            SourceFile(
                name="heart_cleveland",
                path="heart-disease/processed.cleveland.data",
                sha256="a5195b7562ca4f48bda400649bfee2a7d7ed70ff72fb5cc0c486c68fd68f7f62",
            ),
        ),
        columns=(
            "age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang",
            "oldpeak", "slope", "ca", "thal", "num",
        ),
        target="num",
        classes={"absent": ("0",), "present": ("1", "2", "3", "4")},
        categories={  # codes without an order; the other coded features have one, or two values
            "cp": ("1.0", "2.0", "3.0", "4.0"),
            "restecg": ("0.0", "1.0", "2.0"),
            "thal": ("3.0", "6.0", "7.0"),
        },
        source="A. Janosi, W. Steinbrunn, M. Pfisterer and R. Detrano (1989). "
        "https://doi.org/10.24432/C52P4X.",
        note="Is a heart vessel narrowed by more than half? Missing cells are in ca and thal.",
    ),
    "tic_tac_toe": Record(
        title="Tic-Tac-Toe Endgame",
        files=(
            SourceFile(
                name="tic_tac_toe",
                path="tic-tac-toe/tic-tac-toe.data",
                sha256="200d65197e37166837dedbe621bea3b159a03fe56448a2d5f6a1a553e00f2372",
            ),
        ),
        columns=(*_SQUARES, "class"),
        target="class",
        classes={"negative": ("negative",), "positive": ("positive",)},
        categories=dict.fromkeys(_SQUARES, ("b", "o", "x")),
        source="D. Aha (1991). https://doi.org/10.24432/C5688J.",
        note="Every board at the end of a game that x began, b for blank: has x won (positive)?",
    ),
    "echocardiogram": _ECHOCARDIOGRAM,
    "haberman": Record(
        title="Haberman's Survival",
        files=(
            SourceFile(
                name="haberman",
                path="haberman/haberman.data",
                sha256="92114c3c5131e605bb0dac3f2f2669507d61b0113c11cfbe6c0ed47e101a6ec8",
            ),
        ),
        columns=("age", "op_year", "positive_nodes", "survival_status"),
        target="survival_status",
        classes={"survived 5 years": ("1",), "died within 5 years": ("2",)},
        source="S. Haberman (1976). https://doi.org/10.24432/C5XK51.",
        note="Patients after surgery for breast cancer.",
    ),
    "pima": Record(
        title="Pima Indians Diabetes",
        files=(
            SourceFile(
                name="pima",
                path="pima-indians-diabetes/pima-indians-diabetes.data",
                sha256="b7ce7c4bdfa34891fae2c97afa2c4277569385f2c05c8197df3df7568af62b3f",
            ),
        ),
        columns=(
            "pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age",
            "class",
        ),
        target="class",
        classes={"no diabetes": ("0",), "diabetes": ("1",)},
        source="National Institute of Diabetes and Digestive and Kidney Diseases, "
        "donor V. Sigillito (1990).",
        note=(
            "A 0 in glucose, pressure, triceps, insulin or mass stands for a value that was not "
            "taken; as is customary, it is kept as a number. The archive has withdrawn the set, so "
            "a download may fail."
        ),
    ),
    "bupa": Record(
        title="Liver Disorders",
        files=(
            SourceFile(
                name="bupa",
                path="liver-disorders/bupa.data",
                sha256="ab7c9f801a6fc0568605bda3796a3962d0b940a19ced4060fb1e2ff98438b5cc",
            ),
        ),
        columns=("mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks", "selector"),
        target="selector",
        classes={"selector 1": ("1",), "selector 2": ("2",)},
        source="BUPA Medical Research, donor R. Forsyth (1990). https://doi.org/10.24432/C54G67.",
        note=(
            "The target is the donor's mark of a split into training and test rows and no "
            "diagnosis; most papers use it as the class, and so does this record."
        ),
    ),
    # The other problem that is customary on the same table.
    "echocardiogram_alive_at_1": dataclasses.replace(
        _ECHOCARDIOGRAM,
        title="Echocardiogram, after one year",
        target="alive-at-1",
        classes={"alive-at-1 0": ("0",), "alive-at-1 1": ("1",)},
        dropped={
            **{k: v for k, v in _ECHOCARDIOGRAM.dropped.items() if k != "alive-at-1"},
            "still-alive": "determines the class together with survival",
        },
        note=(
            f"{_ECHOCARDIOGRAM.note} That holds here too: a 1 goes with a survival of 10 months or "
            "less. Another 57 rows have no class and are left out."
        ),
    ),
    # The sets of the AR-Boost paper that are not above; its diabetes is pima.
    "ionosphere": Record(
        title="Ionosphere",
        files=(
            SourceFile(
                name="ionosphere",
                path="ionosphere/ionosphere.data",
                sha256="10e18562b2faf4b58b6e70ebd84104a44a8c76647c621006a5dbbcc69c537616",
            ),
        ),
        columns=(*_numbered("a", 34), "class"),
        target="class",
        classes={"bad": ("b",), "good": ("g",)},
        source="V. Sigillito, S. Wing, L. Hutton and K. Baker (1989). "
        "https://doi.org/10.24432/C5W01B.",
        note="Does a radar return show structure in the ionosphere? a2 is 0 in every row.",
    ),
    "german": Record(
        title="Statlog (German Credit Data)",
        files=(
            SourceFile(
                name="german",
                path="statlog/german/german.data",
                sha256="7424e7de08823199edf88915ee5929f4dff7f1f3a7d6a1b7d8c24cf350f6e1cb",
            ),
        ),
        columns=(
            "status", "duration", "history", "purpose", "amount", "savings", "employment",
            "installment_rate", "personal_status", "debtors", "residence", "property", "age",
            "other_plans", "housing", "existing_credits", "job", "liable", "telephone",
            "foreign_worker", "class",
        ),
        target="class",
        classes={"good": ("1",), "bad": ("2",)},
        categories={
            "status": ("A11", "A12", "A13", "A14"),
            "history": ("A30", "A31", "A32", "A33", "A34"),
            "purpose": (
                "A40", "A41", "A42", "A43", "A44", "A45", "A46", "A48", "A49", "A410",
            ),
            "savings": ("A61", "A62", "A63", "A64", "A65"),
            "employment": ("A71", "A72", "A73", "A74", "A75"),
            "personal_status": ("A91", "A92", "A93", "A94"),
            "debtors": ("A101", "A102", "A103"),
            "property": ("A121", "A122", "A123", "A124"),
            "other_plans": ("A141", "A142", "A143"),
            "housing": ("A151", "A152", "A153"),
            "job": ("A171", "A172", "A173", "A174"),
            "telephone": ("A191", "A192"),
            "foreign_worker": ("A201", "A202"),
        },
        source="H. Hofmann (1994). https://doi.org/10.24432/C5NC77.",
        note="Is a person a bad credit risk?",
    ),
    "spambase": Record(
        title="Spambase",
        files=(
            SourceFile(
                name="spambase",
                path="spambase/spambase.data",
                sha256="f61035a509a20e4c94a63d2db2c86fe660ed443dbc16aadf76e7d8abb37725c0",
            ),
        ),
        columns=(
            *(f"word_freq_{word}" for word in _SPAM_WORDS),
            *(f"char_freq_{character}" for character in ";([!$#"),
            *(f"capital_run_length_{statistic}" for statistic in ("average", "longest", "total")),
            "class",
        ),
        target="class",
        classes={"mail": ("0",), "spam": ("1",)},
        source="M. Hopkins, E. Reeber, G. Forman and J. Suermondt (1999). "
        "https://doi.org/10.24432/C53G6X.",
    ),
    "vowel": Record(
        title="Connectionist Bench (Vowel Recognition, Deterding Data)",
        files=(
            SourceFile(
                name="vowel",
                path="undocumented/connectionist-bench/vowel/vowel-context.data",
                sha256="a93f765f4705255911dc155cfef5be49dc2e0ed7db4e8cb93b677da55d951b3a",
            ),
        ),
        columns=(
            "test_flag", "speaker", "sex", *(f"f{number}" for number in range(10)), "class",
        ),
        target="class",
        classes={
            "hid": ("0",), "hId": ("1",), "hEd": ("2",), "hAd": ("3",), "hYd": ("4",),
            "had": ("5",), "hOd": ("6",), "hod": ("7",), "hUd": ("8",), "hud": ("9",),
            "hed": ("10",),
        },
        dropped={
            "test_flag": "marks the rows for testing, which the subset gives",
            "speaker": "number of the speaker; the test rows are of other speakers",
            "sex": "of the speaker; the customary problem is the ten measures of the sound",
        },
        train_rows=528,
        source="D. Deterding, M. Niranjan and T. Robinson (1989). "
        "https://doi.org/10.24432/C58P4S.",
        note="Which of eleven English vowels is spoken?",
    ),
    "pendigits": Record(
        title="Pen-Based Recognition of Handwritten Digits",
        files=(
            SourceFile(
                name="pendigits_train",
                path="pendigits/pendigits.tra",
                sha256="c0e8a55265827127789aae55250ef4a7e1e2efee2ca2f31da9f0a3349299b16c",
            ),
            SourceFile(
                name="pendigits_test",
                path="pendigits/pendigits.tes",
                sha256="6bb015945288925e74b312be8edeb869b71559947eebfebe12214c9314b23c3a",
            ),
        ),
        columns=(*(f"{axis}{point}" for point in range(1, 9) for axis in "xy"), "digit"),
        target="digit",
        classes={digit: (digit,) for digit in "0123456789"},
        source="E. Alpaydin and F. Alimoglu (1996). https://doi.org/10.24432/C5MG6K.",
        note="Eight points along the pen's way, from 0 to 100.",
    ),
    "new_thyroid": Record(
        title="Thyroid Disease (new-thyroid)",
        files=(
            SourceFile(
                name="new_thyroid",
                path="thyroid-disease/new-thyroid.data",
                sha256="b1b35d8f8d3dd9e03f81a07e527ae87a2906b80378ba5e091d60ccdbf34ad89e",
            ),
        ),
        columns=(
            "class", "t3_resin", "total_thyroxin", "total_triiodothyronine", "basal_tsh",
            "max_tsh_diff",
        ),
        target="class",
        classes={"normal": ("1",), "hyperthyroid": ("2",), "hypothyroid": ("3",)},
        source="R. Quinlan (1986). Thyroid Disease. https://doi.org/10.24432/C5D010.",
        note="Five laboratory tests of the thyroid gland.",
    ),
    "satimage": Record(
        title="Statlog (Landsat Satellite)",
        files=(
            SourceFile(
                name="satimage_train",
                path="statlog/satimage/sat.trn",
                sha256="9754446dd2b14b3eac9fd0ccec807613e68764893dd69cf0b22a7a50b51a57ac",
            ),
            SourceFile(
                name="satimage_test",
                path="statlog/satimage/sat.tst",
                sha256="ca0798dd363022e71c029fe77f3d1fa2947f413ce9094bc81ac682d2321a7b19",
            ),
        ),
        columns=(*_numbered("a", 36), "class"),
        target="class",
        classes={
            "red soil": ("1",), "cotton crop": ("2",), "grey soil": ("3",),
            "damp grey soil": ("4",), "soil with vegetation stubble": ("5",),
            "very damp grey soil": ("7",),
        },
        source="A. Srinivasan (1993). https://doi.org/10.24432/C55887.",
        note="Four spectral bands of 3 x 3 pixels: what is in the middle one?",
    ),
    "segment": Record(
        title="Statlog (Image Segmentation)",
        files=(
            SourceFile(
                name="segment",
                path="statlog/segment/segment.dat",
                sha256="9e501828afeb17be494e96416198563923430ab95b97cf87e21cb74c0f237188",
            ),
        ),
        columns=(
            "region-centroid-col", "region-centroid-row", "region-pixel-count",
            "short-line-density-5", "short-line-density-2", "vedge-mean", "vedge-sd", "hedge-mean",
            "hedge-sd", "intensity-mean", "rawred-mean", "rawblue-mean", "rawgreen-mean",
            "exred-mean", "exblue-mean", "exgreen-mean", "value-mean", "saturation-mean",
            "hue-mean", "class",
        ),
        target="class",
        classes={
            "brickface": ("1",), "sky": ("2",), "foliage": ("3",), "cement": ("4",),
            "window": ("5",), "path": ("6",), "grass": ("7",),
        },
        source="Vision Group, University of Massachusetts (1990). "
        "https://doi.org/10.24432/C5P01G.",
        note=(
            "What do 3 x 3 pixels of an outdoor image show? All 2,310 rows in the order of the "
            "Statlog file, which is not divided into training and test rows."
        ),
    ),
    # A set of the rado paper.
    "magic": Record(
        title="MAGIC Gamma Telescope",
        files=(
            SourceFile(
                name="magic",
                path="magic/magic04.data",
                sha256="ed9c3c747b6a424f579fb830b375bfea72ac4b0f4520fb2edd1ee609df79d0bc",
            ),
        ),
        columns=(
            "fLength", "fWidth", "fSize", "fConc", "fConc1", "fAsym", "fM3Long", "fM3Trans",
            "fAlpha", "fDist", "class",
        ),
        target="class",
        classes={"hadron": ("h",), "gamma": ("g",)},
        source="R. Bock (2004). https://doi.org/10.24432/C52C8B.",
        note="Is a shower seen by a Cherenkov telescope of a gamma ray or of the background?",
    ),
}  # fmt: skip
