"""Sets to classify as ``(X, y)``, of counts, answers, texts with metadata; most from the folder ``ADAPTIVE_DATA``.

The folder (default ``~/adaptive_data``) holds one sub-folder per collection::

    uci/ionosphere.csv ...      no header, last column is the class, "?" = missing
    raetsch/banana.npz ...      X, y and, for some, train_idx and test_idx (one row per published split)
    libsvm/a9a.gz, a9a.t.gz ... svmlight text, plain or gzipped
    text-newsgroups/newsgroups20_bow.npz, labels.csv    word counts of 20 Newsgroups, split by date
    text-poliblog, text-cora, text-sotu                 word counts or texts, with metadata
    usps/usps.npz, ripley/ripley_synth.npz
    llm-benchmarks/mmlu.npz ...  language models of a leaderboard and the items they answered rightly
    psychometrics/big5_ipip50.tsv.gz ... irt/VerbAgg.csv.gz   answers of people to questionnaires
    counts/coal.csv, DoctorVisits.csv.gz; spikes/cockroach_spikes.csv.gz; lastfm-2k/user_artists.dat.gz
    sushi/sushi_a_rankings.csv.gz, jester5k/jester5k.npz; a user's own sushi3b.5000.10.order, movielens/u.data
    baskets/groceries.txt.gz ...    one basket per line
    brightkite/loc-brightkite_totalCheckins.txt.gz, lastfm-1k/userid-timestamp-....tsv: a user's own

A module per kind of set. Nothing is downloaded: a set that is absent raises ``DataNotFoundError``, which says which
file is wanted and where.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.datasets.benchmarks import load_benchmark
    from adaptive.datasets.counts import coal, spikes, visits
    from adaptive.datasets.data_folder import DataNotFoundError, file, folder
    from adaptive.datasets.digits import digits_pair, usps
    from adaptive.datasets.pairs import baskets, lastfm, movielens
    from adaptive.datasets.preferences import jester, sushi
    from adaptive.datasets.questionnaires import answers
    from adaptive.datasets.sequences import address_words, events, logs, spike_trains
    from adaptive.datasets.tables import breast_cancer, libsvm, raetsch, ripley, uci
    from adaptive.datasets.texts import addresses, all_newsgroups, cora, newsgroups, poliblog

__all__ = [
    "DataNotFoundError",
    "address_words",
    "addresses",
    "all_newsgroups",
    "answers",
    "baskets",
    "breast_cancer",
    "coal",
    "cora",
    "digits_pair",
    "events",
    "file",
    "folder",
    "jester",
    "lastfm",
    "libsvm",
    "load_benchmark",
    "logs",
    "movielens",
    "newsgroups",
    "poliblog",
    "raetsch",
    "ripley",
    "spike_trains",
    "spikes",
    "sushi",
    "uci",
    "usps",
    "visits",
]

__getattr__, __dir__ = _lazily(__name__)
