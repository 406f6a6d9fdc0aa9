"""Cartesian sequences of the usual kinds, with pypulseq: what somebody has, and other phase encodes are put into."""

from __future__ import annotations

import numpy as np

N, READ = 32, 40
FOV = 0.2


def limits():
    import pypulseq as pp

    times = {"rf_ringdown_time": 20e-6, "rf_dead_time": 100e-6, "adc_dead_time": 10e-6}
    return pp.Opts(max_grad=30, grad_unit="mT/m", max_slew=150, slew_unit="T/m/s", **times)


def gradient_echo(labelled=False, slices=1, n=N, fov=FOV, read=READ, dummies=0):
    """Rewound and spoiled; with counters, several slices and dummies where asked for. The table runs downwards."""
    import pypulseq as pp

    system, samples = limits(), read
    made = pp.Sequence(system)
    rf, gz, back = pp.make_sinc_pulse(
        np.deg2rad(10), system=system, duration=2e-3, slice_thickness=5e-3, time_bw_product=4, return_gz=True,
        delay=system.rf_dead_time, use="excitation",
    )  # fmt: skip
    read = pp.make_trapezoid("x", flat_area=samples / fov, flat_time=samples * 2e-5, system=system)
    adc = pp.make_adc(samples, duration=read.flat_time, delay=read.rise_time, system=system)
    to = pp.make_trapezoid("x", area=-read.area / 2, duration=1e-3, system=system)
    back = pp.make_trapezoid("z", area=back.area, duration=1e-3, system=system)
    spoil = pp.make_trapezoid("z", area=4 / 5e-3, system=system)
    for s in range(slices):
        rf.freq_offset = gz.amplitude * 6e-3 * s
        for _ in range(dummies):
            made.add_block(rf, gz)
            made.add_block(to, back)
            made.add_block(read)
            made.add_block(spoil, pp.make_delay(4e-3))
        for k in range(n):
            made.add_block(rf, gz)
            lobe = pp.make_trapezoid("y", area=(n / 2 - k) / fov, duration=1e-3, system=system)
            made.add_block(to, lobe, back)
            made.add_block(read, adc)
            rest = [pp.scale_grad(lobe, -1), spoil, pp.make_delay(4e-3)]
            if labelled:
                rest.append(pp.make_label("LIN", "INC", 1) if k < n - 1 else pp.make_label("LIN", "SET", 0))
                rest += [] if k < n - 1 else [pp.make_label("SLC", "INC", 1)]
            made.add_block(*rest)
    made.set_definition("FOV", [fov, fov, 5e-3])
    return made


def spin_echoes(steps, dummies=0, read=READ, wait=0.05):
    """Trains of spin echoes, whose gradients of the slice go on from block to block; ``steps`` (trains, echoes)."""
    import pypulseq as pp

    system, samples = limits(), read
    made = pp.Sequence(system)
    ramp, wide = 250e-6, 2.2e-3
    rf90, gz, _ = pp.make_sinc_pulse(
        np.pi / 2, system=system, duration=2e-3, slice_thickness=5e-3, time_bw_product=4, return_gz=True,
        phase_offset=np.pi / 2, delay=system.rf_dead_time, use="excitation",
    )  # fmt: skip
    rf180, wider, _ = pp.make_sinc_pulse(
        np.pi, system=system, duration=2e-3, slice_thickness=2e-2, time_bw_product=4, return_gz=True,
        delay=system.rf_dead_time, use="refocusing",
    )  # fmt: skip

    def pulse(rf, g):
        for t, a in ((ramp, [0, g]), (wide, [g, g]), (ramp, [g, 0])):
            gradient = pp.make_extended_trapezoid("z", times=np.array([0, t]), amplitudes=np.array(a), system=system)
            made.add_block(gradient, *([rf] if t == wide else []))

    read = pp.make_trapezoid("x", flat_area=samples / FOV, flat_time=samples * 4e-5, rise_time=ramp, system=system)
    adc = pp.make_adc(samples, duration=read.flat_time, delay=read.rise_time, system=system)
    first = pp.make_trapezoid("x", area=read.area / 2, duration=1.5e-3, system=system)

    crush = pp.make_trapezoid("z", area=4 / 5e-3, duration=1.2e-3, system=system)
    for number, train in enumerate(np.vstack([np.zeros((dummies, np.shape(steps)[1])), steps])):
        pulse(rf90, gz.amplitude)
        made.add_block(
            first, pp.make_trapezoid("z", area=-gz.amplitude * (wide + ramp) / 2, system=system), pp.make_delay(2e-3)
        )
        for step in train:
            made.add_block(crush)
            pulse(rf180, wider.amplitude)
            lobe = pp.make_trapezoid("y", area=step / FOV, duration=1.2e-3, rise_time=ramp, system=system)
            made.add_block(lobe, crush)
            made.add_block(read, *([adc] if number >= dummies else []))
            made.add_block(pp.scale_grad(lobe, -1) if step else lobe)
        made.add_block(pp.make_delay(wait))
    return made


def turbo_spin_echo(n=N, read=READ, wait=0.05):
    """Trains of eight, four of 32 lines, the centre at place 3, after a train of dummies."""
    trains = n // 8
    sorted_steps = np.roll(np.arange(n) - n // 2, -(trains // 2))
    return spin_echoes(sorted_steps.reshape(8, trains).T, 1, read, wait)


def haste():
    """One train, five lines beyond the centre first."""
    return spin_echoes(np.arange(-5, N // 2)[None])


def mprage(inner=12, outer=10, fov=(0.18, 0.2, 0.24)):
    """Inverted trains along x, one for each step along y, read out along z; LIN counts y, PAR x.

    Lobes stand in the block of the read-out, and are wound back in that of the next pulse.
    """
    import pypulseq as pp

    system = limits()
    made = pp.Sequence(system)
    invert = pp.make_block_pulse(np.pi, duration=1e-3, delay=system.rf_dead_time, system=system, use="inversion")
    rf = pp.make_block_pulse(np.deg2rad(7), duration=1e-4, delay=system.rf_dead_time, system=system, use="excitation")
    read = pp.make_trapezoid("z", flat_area=READ / fov[2], flat_time=READ * 4e-5, system=system)
    to = pp.make_trapezoid("z", area=-read.area / 2, duration=1e-3, system=system)
    read.delay = 1e-3
    whole = pp.add_gradients([to, read], system=system)
    adc = pp.make_adc(READ, duration=read.flat_time, delay=1e-3 + read.rise_time, system=system)
    rf.delay = 1e-3
    for y in range(outer):
        made.add_block(invert)
        made.add_block(pp.make_delay(0.1))
        back = []
        for x in range(inner):
            named = [pp.make_label("LIN", "SET", y), pp.make_label("PAR", "SET", x)]
            made.add_block(rf, *back, *named)
            lobes = [
                pp.make_trapezoid(axis, area=(k - n // 2) / f, duration=1e-3, system=system)
                for axis, k, n, f in (("x", inner - x, inner, fov[0]), ("y", y, outer, fov[1]))
            ]
            made.add_block(whole, adc, *lobes)
            back = [pp.scale_grad(one, -1) for one in lobes]
        made.add_block(pp.make_delay(0.2))
    made.set_definition("FOV", list(fov))
    return made
