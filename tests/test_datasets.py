"""The loaders: shapes and classes as published; an absent set is named in one clear line."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from adaptive import datasets


def loaded(loader, *arguments):
    """Return what a loader gives, or skip where this machine does not have the set."""
    try:
        return loader(*arguments)
    except datasets.DataNotFoundError as absent:
        pytest.skip(f"no data: {absent}")


@pytest.mark.parametrize(
    ("loader", "arguments", "shape", "counts"),
    [
        (datasets.digits_pair, (), (365, 64), {3: 183, 5: 182}),
        (datasets.digits_pair, (4, 9), (361, 64), {4: 181, 9: 180}),
        (datasets.breast_cancer, (), (569, 30), {0: 212, 1: 357}),
        (datasets.uci, ("ionosphere",), (351, 34), {"b": 126, "g": 225}),
        (datasets.uci, ("sonar",), (208, 60), {"M": 111, "R": 97}),
        (datasets.uci, ("breast_cancer_wisconsin",), (683, 9), {2: 444, 4: 239}),
        (datasets.uci, ("crabs",), (200, 5), {"F": 100, "M": 100}),
        (datasets.uci, ("pima_ripley",), (532, 7), {"No": 355, "Yes": 177}),
        (datasets.raetsch, ("banana",), (5300, 2), {-1: 2924, 1: 2376}),
        (datasets.raetsch, ("splice",), (3175, 60), {-1: 1648, 1: 1527}),
        (datasets.libsvm, ("a9a",), (32561, 123), {-1: 24720, 1: 7841}),
        (datasets.libsvm, ("a9a", "test"), (16281, 123), {-1: 12435, 1: 3846}),
        (datasets.libsvm, ("w8a",), (49749, 300), {-1: 48270, 1: 1479}),
        (datasets.libsvm, ("heart_scale",), (270, 13), {-1: 150, 1: 120}),
        (
            datasets.newsgroups,
            ("alt.atheism", "talk.religion.misc"),
            (856, 61188),
            {"alt.atheism": 480, "talk.religion.misc": 376},
        ),
        (datasets.usps, ("test",), (326, 256), {3: 166, 5: 160}),
        (datasets.ripley, (), (250, 2), {0: 125, 1: 125}),
    ],
)
def test_sets_are_as_published(loader, arguments, shape, counts):
    X, y = loaded(loader, *arguments)
    assert X.shape == shape
    assert np.isfinite(X.data if scipy.sparse.issparse(X) else X).all()
    classes, numbers = np.unique(y, return_counts=True)
    assert dict(zip(classes.tolist(), numbers.tolist(), strict=True)) == counts


def test_a_published_split_partitions_nothing_twice():
    X_train, X_test, y_train, y_test = loaded(datasets.raetsch, "titanic", 9)
    assert X_train.shape == (150, 3) and X_test.shape == (2051, 3)
    X, y = datasets.raetsch("titanic")
    assert len(y_train) + len(y_test) == len(y) and y_train.sum() + y_test.sum() == y.sum()


def test_wrong_splits_are_named():
    loaded(datasets.raetsch, "titanic")
    with pytest.raises(ValueError, match="split must be below 10 for the raetsch set 'titanic', got 10"):
        datasets.raetsch("titanic", 10)
    with pytest.raises(ValueError, match="'splice' comes without published splits"):
        datasets.raetsch("splice", 0)


def test_small_files_are_read_in_their_formats(tmp_path, monkeypatch):
    """The three file formats, on files made here: this test needs no data folder."""
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    for name in ("uci", "raetsch", "libsvm"):
        (tmp_path / name).mkdir()
    (tmp_path / "uci/sonar.csv").write_text("1,2.5,R\n3,?,M\n-1,0,M\n")
    X, y = datasets.uci("sonar")
    assert X.tolist() == [[1, 2.5], [-1, 0]] and y.tolist() == ["R", "M"]
    np.savez(tmp_path / "raetsch/thyroid.npz", X=np.eye(3), y=[1, -1, 1], train_idx=[[2, 0]], test_idx=[[1]])
    X_train, X_test, y_train, y_test = datasets.raetsch("thyroid", split=0)
    assert X_train.tolist() == [[0, 0, 1], [1, 0, 0]] and y_test.tolist() == [-1]
    (tmp_path / "libsvm/a9a").write_text("+1 1:1 3:0.5\n-1 2:1\n")
    X, y = datasets.libsvm("a9a")
    assert X.shape == (2, 123) and X[0, 2] == 0.5 and y.tolist() == [1, -1]


def test_an_absent_set_says_which_file_and_where(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    with pytest.raises(
        datasets.DataNotFoundError, match=r"uci/sonar\.csv is not in the data folder .*set ADAPTIVE_DATA"
    ):
        datasets.uci("sonar")
    monkeypatch.delenv("ADAPTIVE_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(datasets.DataNotFoundError, match="adaptive_data .*ADAPTIVE_DATA is not set"):
        datasets.libsvm("w8a")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.uci("sonr"), "name must be one of .*Did you mean 'sonar'"),
        (lambda: datasets.raetsch("moon"), "name must be one of 'banana'"),
        (lambda: datasets.digits_pair(3, 3), "two different digits, got 3 twice"),
        (lambda: datasets.digits_pair(3, 11), "second must be one of '0'"),
        (lambda: datasets.usps("half"), "part must be one of 'train', 'test'"),
    ],
)
def test_wrong_names_list_the_known_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_newsgroups_come_in_pairs_of_known_groups():
    X, y = loaded(datasets.newsgroups, "rec.sport.baseball", "rec.sport.hockey", "test")
    assert X.shape == (796, 61188) and X.data.min() >= 1 and set(y) == {"rec.sport.baseball", "rec.sport.hockey"}
    for pair, message in [
        (("rec.sport.basebal", "sci.med"), "Did you mean 'rec.sport.baseball'"),
        (("sci.med", "sci.med"), "two different groups"),
    ]:
        with pytest.raises(ValueError, match=message):
            datasets.newsgroups(*pair)


def test_answers_of_people():
    for name, shape, most in (
        ("big_five", (19719, 50), 5),
        ("verbal_aggression", (316, 24), 3),
        ("sat12", (600, 32), 1),
    ):
        table = loaded(datasets.answers, name)
        assert table.shape == shape and np.nanmax(table.to_numpy()) == most
    right = loaded(datasets.answers, "sat12")  # with the right key, every item agrees with the others
    known = right.fillna(0.0).to_numpy()
    rest = known.sum(axis=1)[:, None] - known
    assert all(np.corrcoef(known[:, k], rest[:, k])[0, 1] > 0.05 for k in range(32))
    with pytest.raises(ValueError, match="name must be one of 'big_five'"):
        datasets.answers("mmpi")


def test_texts_come_with_their_metadata():
    X, leaning, words = loaded(datasets.poliblog)
    assert X.shape == (773, 1290) == (len(leaning), len(words)) and np.sum(leaning == "liberal") == 464
    X, cites, words = loaded(datasets.cora)
    assert X.shape == (2410, 2961) and len(words) == 2961 and cites.shape == (4356, 2) and cites.max() < 2410
    X, groups, words = loaded(datasets.all_newsgroups, "test")
    assert X.shape == (7505, 61188) == (len(groups), len(words)) and len(set(groups)) == 20
    table = loaded(datasets.addresses)
    assert {name: len(column) for name, column in table.items()} == dict.fromkeys(table, 240)
    assert (min(table["year"]), max(table["year"])) == (1790, 2020) and "Republican" in table["party"]
    assert len(datasets.addresses(paragraphs=True)["text"]) > 10_000


def test_rankings_and_ratings_are_as_published():
    ranks, names = loaded(datasets.sushi)
    assert ranks.shape == (5000, 10) and names[7] == "fatty tuna"
    np.testing.assert_array_equal(np.sort(ranks, axis=1), np.tile(np.arange(1.0, 11.0), (5000, 1)))
    assert np.bincount(ranks.argmin(axis=1)).argmax() == 7  # fatty tuna is liked best by most
    ratings = loaded(datasets.jester)
    assert ratings.shape == (5000, 100) and np.isfinite(ratings).sum() == 363_209
    assert -10 <= np.nanmin(ratings) and np.nanmax(ratings) <= 10


def test_sets_of_which_a_user_has_a_copy(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    (tmp_path / "sushi").mkdir()
    (tmp_path / "sushi/sushi3b.5000.10.order").write_text("100 1\n0 3 58 4 3\n0 3 87 74 4\n")
    ranks, names = datasets.sushi("b")
    assert ranks.shape == (2, 100) and len(names) == 100 and np.isfinite(ranks).sum() == 6
    assert ranks[0, [58, 4, 3]].tolist() == [1, 2, 3] and ranks[1, 4] == 3
    (tmp_path / "movielens").mkdir()
    (tmp_path / "movielens/u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    (tmp_path / "movielens/ratings.dat").write_text("1::1193::4.5::978300760\n")
    assert datasets.movielens()[0].tolist() == [[196, 242], [186, 302]]
    pairs, ratings = datasets.movielens("movielens/ratings.dat")
    assert pairs.tolist() == [[1, 1193]] and ratings.tolist() == [4.5]


def test_baskets_are_pairs_of_baskets_and_items():
    for name, shape in (("groceries", (43_367, 9835, 169)), ("apparel", (34_898, 14_970, 100))):
        try:
            pairs, items = datasets.baskets(name)
        except datasets.DataNotFoundError as error:
            pytest.skip(f"no data: {error}")
        assert (len(pairs), pairs[:, 0].max() + 1, len(items)) == shape and pairs[:, 1].max() + 1 == len(items)


def test_histories_of_words_and_of_spikes():
    words = loaded(datasets.address_words, 6000, 2000)
    assert len(words) == 42 and {len(spoken) for spoken in words.values()} == {6000}
    assert len({word for spoken in words.values() for word in spoken}) == 2001  # and "*"
    assert words["George Washington"][:4] == ["fellow", "citizens", "of", "the"]
    trains = loaded(datasets.spike_trains)
    assert len(trains) == 64 and sum(map(len, trains.values())) == 35405
    assert len({event for events in trains.values() for event in events}) == 20
    assert all(train[0].endswith("pause 4") for train in trains.values())  # nothing was before


def test_logs_of_a_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_text("who,what,when\nann,b,10\nben,c,3\nann,a,9\n")
    assert datasets.events(tmp_path / "mine.csv", "who", "what") == {"ann": ["b", "a"], "ben": ["c"]}
    assert datasets.events(tmp_path / "mine.csv", "who", "what", "when") == {"ann": ["a", "b"], "ben": ["c"]}
    with pytest.raises(ValueError, match="has no column 'user', only 'who', 'what', 'when'"):
        datasets.events(tmp_path / "mine.csv")
    with pytest.raises(datasets.DataNotFoundError, match="loc-brightkite"):
        datasets.logs("brightkite")
    (tmp_path / "lastfm-1k").mkdir()
    (tmp_path / "lastfm-1k" / "userid-timestamp-artid-artname-traid-traname.tsv").write_text(
        'u1\t2009-05-02\tx\tThe "B\tt\tsong\nu1\t2009-05-01\ty\tA\tt\tsong\n'
    )
    assert datasets.logs("lastfm-1k") == {"u1": ["A", 'The "B']}
