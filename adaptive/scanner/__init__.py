"""From the scanner and back: scans of every format in, with their place and protocol; plans and data out."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.scanner.comparing import compare_scans
    from adaptive.scanner.dicom_writing import write_dicom
    from adaptive.scanner.geometry import Geometry
    from adaptive.scanner.ismrmrd_writing import write_ismrmrd, write_plan
    from adaptive.scanner.partial_fourier import partial_fourier
    from adaptive.scanner.protocol import Protocol
    from adaptive.scanner.pulseq.plans import exchange_encodes, write_pulseq
    from adaptive.scanner.reading import read_images, read_scan
    from adaptive.scanner.recognising import looks_like_kspace
    from adaptive.scanner.scan import Scan

__all__ = [
    "Geometry",
    "Protocol",
    "Scan",
    "compare_scans",
    "exchange_encodes",
    "looks_like_kspace",
    "partial_fourier",
    "read_images",
    "read_scan",
    "write_dicom",
    "write_ismrmrd",
    "write_plan",
    "write_pulseq",
]

__getattr__, __dir__ = _lazily(__name__)
