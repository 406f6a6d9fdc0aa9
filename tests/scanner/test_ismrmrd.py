"""ISMRMRD: what the library writes is read to the bit, what is written the library reads; bad files are named."""

import numpy as np
import pytest

from adaptive.operators import FourierMask
from adaptive.scanner import Geometry, Protocol, Scan, read_scan, write_ismrmrd
from designs import kspace
from designs.kspace import import_design

ismrmrd = pytest.importorskip("ismrmrd", reason="needs ismrmrd: pip install 'adaptive-designs[mri]'")
COILS, NY, NX = 3, 12, 10


def complex_numbers(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(np.complex64)


SAMPLES = complex_numbers(COILS, NY, NX)
TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0].astype(np.float32)
PLACE = dict(zip(("read_dir", "phase_dir", "slice_dir"), map(tuple, TURN.tolist()), strict=True))
PLACE["position"] = (1.25, -20.5, 33.1)


def header(nx=NX, ny=NY, nz=1, centre=None, wanted_x=None, view_x=300.0):
    """As a converter of a scanner's raw data writes it."""
    xsd = ismrmrd.xsd
    space = xsd.encodingSpaceType(
        matrixSize=xsd.matrixSizeType(x=nx, y=ny, z=nz), fieldOfView_mm=xsd.fieldOfViewMm(x=view_x, y=240.0, z=5.0)
    )
    recon = xsd.encodingSpaceType(
        matrixSize=xsd.matrixSizeType(x=wanted_x or nx, y=ny, z=nz),
        fieldOfView_mm=xsd.fieldOfViewMm(x=view_x * (wanted_x or nx) / nx, y=240.0, z=5.0),
    )
    limits = xsd.encodingLimitsType()
    if centre is not None:
        limits.kspace_encoding_step_1 = xsd.limitType(minimum=0, maximum=ny - 1, center=centre)
    return xsd.ismrmrdHeader(
        experimentalConditions=xsd.experimentalConditionsType(H1resonanceFrequency_Hz=128_000_000),
        encoding=[
            xsd.encodingType(
                encodedSpace=space, reconSpace=recon, encodingLimits=limits, trajectory=xsd.trajectoryType.CARTESIAN
            )
        ],
        sequenceParameters=xsd.sequenceParametersType(TR=[500.0], TE=[12.0, 80.0], flipAngle_deg=[90.0]),
    )


def acquisition(data, line=0, *, flag=None, traj=None, **head):
    counters = {name: head.pop(name) for name in list(head) if name in ("average", "contrast", "slice", "encode_2")}
    one = ismrmrd.Acquisition.from_array(np.ascontiguousarray(data), traj, **{**PLACE, **head})
    one.idx.kspace_encode_step_1 = line
    one.idx.kspace_encode_step_2 = counters.pop("encode_2", 0)
    for name, value in counters.items():
        setattr(one.idx, name, value)
    if flag is not None:
        one.set_flag(flag)
    return one


def written(path, acquisitions, head=None):
    """One after the other, by the library's data set."""
    with ismrmrd.Dataset(str(path), mode="w") as file:
        file.write_xml_header(ismrmrd.xsd.ToXML(head or header()))
        for one in acquisitions:
            file.append_acquisition(one)
    return path


def lines_of(samples, **head):
    return [acquisition(samples[:, k], k, scan_counter=k, **head) for k in range(samples.shape[1])]


def test_what_the_library_writes_is_read_to_the_bit(tmp_path):
    scan = read_scan(written(tmp_path / "raw.h5", lines_of(SAMPLES)))
    assert scan.data.dtype == np.complex64 and (scan.data == SAMPLES).all()
    assert (scan.kind, scan.coils, scan.n_coils, scan.shape, scan.readout) == ("kspace", 0, COILS, (NY, NX), 1)
    assert scan.order.ravel().tolist() == list(range(NY)) and scan.sampled.all()
    assert scan.protocol == Protocol(echo_time=0.012, repetition_time=0.5, flip_angle=np.pi / 2, frequency=128e6)
    signs = np.array([-1, -1, 1])  # left, posterior, superior
    wanted = np.stack([TURN[1], TURN[0], TURN[2]], axis=1) * signs[:, None]  # y, x, z
    assert (scan.geometry.directions == wanted).all() and scan.geometry.directions.dtype == float
    np.testing.assert_allclose(scan.geometry.voxel_size, [20.0, 30.0, 5.0])
    np.testing.assert_allclose(scan.geometry.centre * signs, np.float32(PLACE["position"]), atol=1e-12)


def test_what_is_written_the_library_reads_to_the_bit(tmp_path):
    first = read_scan(written(tmp_path / "raw.h5", lines_of(SAMPLES)))
    noise = complex_numbers(COILS, 2500, seed=1)
    path = write_ismrmrd(tmp_path / "copy.mrd", first, kspace.lines((NY, NX)).take([6, 2, 9]), noise=noise)
    with ismrmrd.Dataset(str(path), mode="r") as file:
        each = [file.read_acquisition(k) for k in range(file.number_of_acquisitions())]
    silent = [one for one in each if one.is_flag_set(ismrmrd.ACQ_IS_NOISE_MEASUREMENT)]
    assert (np.concatenate([one.data for one in silent], axis=1) == noise).all()
    imaging = each[len(silent) :]
    assert [one.idx.kspace_encode_step_1 for one in imaging] == [6, 2, 9]
    assert [one.scan_counter for one in each] == list(range(len(each)))
    assert imaging[-1].is_flag_set(ismrmrd.ACQ_LAST_IN_MEASUREMENT)
    for one, line in zip(imaging, (6, 2, 9), strict=True):
        assert (one.data == SAMPLES[:, line]).all() and one.center_sample == NX // 2
        for name, wanted in PLACE.items():
            assert list(getattr(one, name)) == np.float32(wanted).tolist(), name
    again = read_scan(path)
    assert (again.noise == noise).all() and (again.geometry.affine == first.geometry.affine).all()
    assert again.protocol == first.protocol and again.order.ravel().tolist() == [6, 2, 9]
    assert again.covariance().method == "noise scan"
    assert np.flatnonzero(again.sampled.any(axis=1)).tolist() == [2, 6, 9]


@pytest.mark.parametrize(
    ("shape", "readout"), [((6, 8), 0), ((6, 8), 1), ((4, 6, 8), 0), ((4, 6, 8), 1), ((4, 6, 8), 2)]
)
def test_any_axis_may_be_read_out(tmp_path, shape, readout):
    data = complex_numbers(2, *shape)
    place = Geometry.from_affine(np.diag([2.0, 3.0, 4.0, 1.0]), (*shape, 1)[:3])
    scan = Scan(data, "kspace", coils=0, geometry=place, readout=readout)
    again = read_scan(write_ismrmrd(tmp_path / "a.h5", scan))
    assert (again.data == data).all() and again.readout == readout and again.shape == shape
    np.testing.assert_allclose(again.geometry.affine, place.affine, atol=1e-5)


@pytest.mark.parametrize("name", ["lines", "encodes", "spirals"])
def test_an_acquisition_gives_the_image_that_the_arrays_give(tmp_path, name):
    from adaptive import ImageReconstructor
    from adaptive.images import simulate_scan

    picture = np.pad(np.ones((10, 8, 6)), 3) if name == "encodes" else np.pad(np.tri(16), 8)
    scan = simulate_scan(picture, snr=50, random_state=0)
    if name == "lines":
        pool = kspace.lines(picture.shape, axis=1).take([16, 14, 15, 17, 13, 18, 20, 9, 28])
    elif name == "encodes":
        pool = kspace.phase_encodes(picture.shape).take(np.r_[70:110, 3, 9])
    else:
        pool = kspace.spirals(picture.shape, kspace.equispaced_angles(8), n_samples=120)
    arrays = scan.measure(pool)
    if name == "spirals":
        path = tmp_path / "raw.h5"
        raw = np.concatenate(arrays)[None]
        write_ismrmrd(
            path, Scan(raw, "kspace", coils=0, trajectory=list(pool.samples), image_shape=picture.shape), pool
        )
    else:
        path = write_ismrmrd(tmp_path / "raw.h5", Scan(scan.kspace, "kspace"), pool)
    plan, taken = import_design(path), read_scan(path)
    assert plan.labels() == pool.labels()
    measured = [one[0] for one in taken.measure(plan)]
    settings = {
        "prior": "tv",
        "max_iter": 40,
        "tol": 2e-3,
        "noise_variance": scan.noise_variance,
        "prior_scales": 0.05,
        "dtype": "complex128",
    }
    model = ImageReconstructor(picture.shape, **settings)
    wanted = model.fit(pool, [np.asarray(one, np.complex64) for one in arrays]).image_
    np.testing.assert_allclose(model.fit(plan, measured).image_, wanted, atol=1e-6 * wanted.max())


def test_counters_say_where_samples_belong(tmp_path):
    # an asymmetric echo, a centre of the phase encodes that is not n // 2, read-outs backwards, what is to be discarded
    short = SAMPLES[:, :, 2:]  # sample 3 of them is DC
    each = [acquisition(short[:, k], k, center_sample=3) for k in range(6)]
    scan = read_scan(written(tmp_path / "a.h5", each, header(centre=4)))
    assert (scan.data[:, 2:8, 2:] == SAMPLES[:, :6, 2:]).all() and not scan.data[:, :, :2].any()
    assert scan.sampled.sum() == 6 * (NX - 2)
    with pytest.raises(ValueError, match=r"a.h5 holds 8 of the 10 samples of Line\(.*\): it was measured in part"):
        scan.measure(kspace.lines((NY, NX)).take([3]))
    mask = FourierMask((NY, NX), scan.sampled)
    assert (scan.measure([mask])[0] == scan.data[:, scan.sampled]).all()
    back = [acquisition(SAMPLES[:, 0, ::-1], 0, flag=ismrmrd.ACQ_IS_REVERSE, center_sample=NX - 1 - NX // 2)]
    assert (read_scan(written(tmp_path / "b.h5", back)).data[:, 0] == SAMPLES[:, 0]).all()
    cut = [acquisition(SAMPLES[:, 0], 0, discard_pre=2, discard_post=1)]
    assert np.flatnonzero(read_scan(written(tmp_path / "c.h5", cut)).sampled[0]).tolist() == list(range(2, NX - 1))


def test_contrasts_slices_and_averages(tmp_path):
    every = complex_numbers(2, 3, 2, COILS, NY, NX)  # contrast, slice, average
    each = [
        acquisition(every[c, s, a, :, k], k, contrast=c, slice=s, average=a)
        for a in range(2)
        for k in range(NY)
        for c in range(2)
        for s in range(3)
    ]
    path = written(tmp_path / "a.h5", each)
    with pytest.raises(ValueError, match=r"a.h5 holds 2 volumes .*: say which one, volume=0 to volume=1\."):
        read_scan(path)
    scan = read_scan(path, volume=1, index=2)
    np.testing.assert_allclose(scan.data, every[1, 2].mean(axis=0), atol=1e-6)
    assert (scan.n_volumes, scan.n_slices, scan.index, scan.protocol.echo_time) == (2, 3, 2, 0.08)
    assert read_scan(path, volume=0).index == 1  # the middle one
    assert import_design(path).labels() == list(range(NY))  # of one slice and average
    found = scan.covariance()
    assert found.method == "repeats" and "measured 2 times" in found.sentence
    np.testing.assert_allclose(found.matrix, np.eye(COILS), atol=0.5)
    with pytest.raises(IndexError, match=r"a.h5 has no index 3: there are 3, 0 to 2"):
        read_scan(path, volume=0, index=3)


def test_what_is_no_image_is_left_out(tmp_path):
    each = [
        acquisition(10 * SAMPLES[:, 0], 0, flag=ismrmrd.ACQ_IS_NAVIGATION_DATA),
        acquisition(10 * SAMPLES[:, 0], 0, flag=ismrmrd.ACQ_IS_PHASECORR_DATA),
        *lines_of(SAMPLES)[4:8],
        acquisition(SAMPLES[:, 0], 0, flag=ismrmrd.ACQ_IS_PARALLEL_CALIBRATION),  # stands in
        acquisition(10 * SAMPLES[:, 5], 5, flag=ismrmrd.ACQ_IS_PARALLEL_CALIBRATION),  # was measured
    ]
    for k, one in enumerate(each):
        one.scan_counter = k
    scan = read_scan(written(tmp_path / "a.h5", each))
    lines = [0, 4, 5, 6, 7]
    assert (scan.data[:, lines] == SAMPLES[:, lines]).all() and scan.sampled.any(axis=1).sum() == 5


def test_noise_of_another_bandwidth_is_scaled(tmp_path):
    noise = acquisition(complex_numbers(COILS, 4000, seed=1), flag=ismrmrd.ACQ_IS_NOISE_MEASUREMENT, sample_time_us=5.0)
    scan = read_scan(written(tmp_path / "a.h5", [noise, *lines_of(SAMPLES, sample_time_us=20.0)]))
    # a sample that takes four times as long has a fourth of the variance
    np.testing.assert_allclose(scan.covariance().matrix, np.eye(COILS) / 4, atol=0.02)


def test_oversampled_read_outs_are_cropped(tmp_path):
    scan = read_scan(written(tmp_path / "a.h5", lines_of(SAMPLES), header(wanted_x=5)))
    cropped = scan.without_oversampling()
    assert cropped.shape == (NY, 5) and cropped.sampled.shape == (NY, 5)
    np.testing.assert_allclose(cropped.images, scan.images[:, :, 3:8], atol=1e-5)
    np.testing.assert_allclose(cropped.geometry.centre, scan.geometry.centre)
    assert cropped.without_oversampling() is cropped


def test_only_what_is_asked_for_is_read(tmp_path):
    import tracemalloc

    each = [acquisition(complex_numbers(4, 256, seed=k), k % 16, contrast=k // 16) for k in range(16 * 64)]
    path = tmp_path / "long.h5"
    with ismrmrd.File(str(path), "w") as file:
        file["dataset"].header = header(256, 16)
        file["dataset"].acquisitions = each
    size = path.stat().st_size
    del each
    read_scan(path, volume=3)  # imports
    tracemalloc.start()
    assert read_scan(path, volume=60).shape == (16, 256)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size / 8


def test_trajectories_of_other_programs(tmp_path):
    # kx, ky and a density, in cycles per pixel, of an image (y, x)
    traj = np.random.default_rng(0).uniform(-0.5, 0.5, (4, 20, 3)).astype(np.float32)
    head = header()
    head.encoding[0].trajectory = ismrmrd.xsd.trajectoryType.SPIRAL
    data = complex_numbers(4, COILS, 20)
    each = [acquisition(data[k], k, traj=traj[k], scan_counter=k) for k in range(4)]
    scan = read_scan(written(tmp_path / "spiral.h5", each, head))
    assert scan.shape == (NY, NX) and scan.sampled is None and (scan.data == np.concatenate(data, axis=1)).all()
    pool = import_design(tmp_path / "spiral.h5")
    for k, shot in enumerate(scan.trajectory):
        np.testing.assert_allclose(shot, 2 * np.pi * traj[k][:, [1, 0]], atol=1e-6)
        assert (scan.measure([pool[k]])[0] == data[k]).all()
    with pytest.raises(
        ValueError, match=r"spiral.h5 holds no samples on a grid, so that the noise of its outer samples"
    ):
        scan.covariance()
    each.insert(0, acquisition(complex_numbers(COILS, 400), flag=ismrmrd.ACQ_IS_NOISE_MEASUREMENT))
    assert read_scan(written(tmp_path / "noise.h5", each, head)).covariance().method == "noise scan"
    traj[2] *= 7
    with pytest.raises(ValueError, match=r"bad.h5: the trajectory of acquisition 0 must be in cycles per pixel"):
        read_scan(written(tmp_path / "bad.h5", [acquisition(data[2], traj=traj[2])], head))
    with pytest.raises(ValueError, match=r"spiral.h5 holds no samples of that trajectory: it was not measured"):
        scan.measure(kspace.spokes((NY, NX), [0.3]))


# Bad input -----------------------------------------------------------------------------------------------------------


def with_nan(samples):
    damaged = samples.copy()
    damaged[1, 4, 2] = np.nan
    return damaged


@pytest.mark.parametrize(
    ("acquisitions", "message"),
    [
        (
            lambda: [*lines_of(SAMPLES), acquisition(SAMPLES[:, 3], 3, scan_counter=99)],
            "phase encode 3 is measured twice",
        ),
        (lambda: lines_of(SAMPLES)[::-1], "out of order, number 1 has the scan_counter 10 after 11; sort them"),
        (
            lambda: [acquisition(SAMPLES[:, 0], NY)],
            "kspace_encode_step_1 12, outside of a matrix of 12 whose centre is 6",
        ),
        (lambda: [acquisition(complex_numbers(COILS, NX + 1))], "11 samples around sample 5, and a read-out of 10 has"),
        (lambda: lines_of(with_nan(SAMPLES)), "acquisition 4 holds 1 numbers that are NaN or infinite"),
        (
            lambda: [*lines_of(SAMPLES)[:2], acquisition(SAMPLES[:2, 5], 5, scan_counter=9)],
            "has 2 channels, those before 3",
        ),
        (lambda: [acquisition(SAMPLES[:, 0], flag=ismrmrd.ACQ_IS_NOISE_MEASUREMENT)], "noise and navigators only"),
        (
            lambda: [acquisition(SAMPLES[:2, 0], flag=ismrmrd.ACQ_IS_NOISE_MEASUREMENT), *lines_of(SAMPLES)],
            "its noise scan has 2 channels, its image 3",
        ),
    ],
)
def test_bad_acquisitions_end_in_one_sentence(tmp_path, acquisitions, message):
    path = written(tmp_path / "bad.h5", acquisitions())
    with pytest.raises(ValueError, match=rf"^bad\.h5.*{message}") as caught:
        read_scan(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.4, 0.99])
def test_cut_off_files_are_named(tmp_path, share):
    path = written(tmp_path / "cut.h5", lines_of(SAMPLES))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    for read in (read_scan, import_design):
        with pytest.raises(ValueError, match=r"cut.h5 cannot be read; it seems to be damaged"):
            read(path)


def test_headers_are_checked(tmp_path):
    path = tmp_path / "a.h5"
    for text in (b"", b"<xml/>", b"no header"):
        with ismrmrd.Dataset(str(path), mode="w") as file:
            file.write_xml_header(text)
            file.append_acquisition(acquisition(SAMPLES[:, 0]))
        with pytest.raises(ValueError, match=r"a.h5 has no header that can be read"):
            read_scan(path)


def test_what_cannot_be_written_leaves_the_folder_free(tmp_path):
    pool = kspace.lines((NY, NX))
    part = Scan(np.where(np.arange(NY)[:, None] < 6, SAMPLES, 0), "kspace", coils=0, source="half")
    calls = [
        ((Scan(np.ones((8, 8)), "image", source="head.nii"),), "scan must be k-space, and head.nii is an image"),
        ((with_nan(SAMPLES),), "holds 1 or more numbers that are NaN"),
        ((part, pool.take([5, 7])), "half holds no samples of phase encode 7"),
        ((SAMPLES, kspace.lines((NY, 8))), r"design is of images of shape \(12, 8\), and scan of shape \(12, 10\)"),
        ((SAMPLES, [1, 2]), "design must be a pool of lines, phase encodes or shots, got list"),
        ((SAMPLES, kspace.spokes((NY, NX), [0.0])), "was not measured along trajectories"),
    ]
    for arguments, message in calls:
        with pytest.raises(ValueError, match=message):
            write_ismrmrd(tmp_path / "a.h5", *arguments)
    with pytest.raises(ValueError, match=r"noise must have shape \(3, samples\), got \(2, 9\)"):
        write_ismrmrd(tmp_path / "a.h5", SAMPLES, noise=np.ones((2, 9)))
    with pytest.raises(ValueError, match=r"a.dat has an unknown ending; ISMRMRD files end in .h5 or .mrd"):
        write_ismrmrd(tmp_path / "a.dat", SAMPLES)
    assert not list(tmp_path.iterdir())
