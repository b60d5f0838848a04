"""A kernel in virtual time, where one has been built."""

from __future__ import annotations

import pytest

from aqmlab.engine.linux import kernel_image
from aqmlab.vocabulary.errors import InputError


def _is_built() -> bool:
    try:
        kernel_image.found()
    except InputError:
        return False
    return True


needs_kernel = pytest.mark.skipif(not _is_built(), reason="no kernel has been built: aqmlab engine build linux")
