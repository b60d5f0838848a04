from __future__ import annotations

import numpy as np
import pytest

from aqmlab import statistics
from aqmlab.statistics import Difference, Estimate, holm, mean, paired, percentile


def the_interval_of_a_mean_agrees_with_the_t_tables() -> None:
    # 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares of deviations 9+1+1+1+0+0+4+16 = 32, variance 32/7,
    # t(7) = 2.3646, half = 2.3646 * sqrt(32/7/8) = 1.7875.
    estimate = mean([2, 4, 4, 4, 5, 5, 7, 9])
    assert estimate.value == 5.0
    assert estimate.n == 8
    assert estimate.half_width == pytest.approx(1.7875, abs=1e-4)
    assert (estimate.low, estimate.high) == pytest.approx((3.2125, 6.7875), abs=1e-4)


def one_run_has_no_interval() -> None:
    assert mean([3.0]) == Estimate(3.0, None, None, 1)
    assert mean([3.0]).half_width is None
    assert paired([3.0], [1.0]).p_value is None


def a_percentile_is_that_of_all_runs_together_and_not_an_average() -> None:
    # Run 1: 90 packets of 1 ms. Run 2: 10 packets of 100 ms. Together the median is 1 and the 95th percentile 100;
    # the average of the runs' medians would be 50.5.
    counts = np.array([[90.0, 0.0], [0.0, 10.0]])
    values = np.array([1.0, 100.0])
    assert percentile(counts, values, 0.5).value == 1.0
    assert percentile(counts, values, 0.90).value == 1.0
    assert percentile(counts, values, 0.95).value == 100.0
    assert percentile(counts, values, 1.0).value == 100.0


def the_bootstrap_resamples_runs_and_repeats_itself() -> None:
    counts = np.eye(5) * 100.0
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    first, second = (percentile(counts, values, 0.5) for _ in range(2))
    assert first == second
    assert first.value == 3.0
    # A resample of five runs has its median among them; 2.5 % of them at an end is rare for five.
    assert first.low in (1.0, 2.0)
    assert first.high in (4.0, 5.0)
    alike = percentile(np.ones((5, 5)), values, 0.5)
    assert (alike.low, alike.high) == (3.0, 3.0)


def a_paired_difference_removes_the_common_effect_of_seeds() -> None:
    # Differences 1, 2, 3: mean 2, t = 2 / (1 / sqrt(3)) = 3.4641, two-sided p at 2 degrees of freedom 0.0742.
    difference = paired([101.0, 202.0, 303.0], [100.0, 200.0, 300.0])
    assert difference.estimate.value == 2.0
    assert difference.p_value == pytest.approx(0.0742, abs=1e-4)


def equal_differences_have_no_variance() -> None:
    assert paired([1.0, 2.0], [1.0, 2.0]).p_value == 1.0
    assert paired([2.0, 3.0], [1.0, 2.0]).p_value == 0.0


def holm_multiplies_by_the_number_left_and_never_falls() -> None:
    some = Estimate(1.0, 0.0, 2.0, 3)
    # Sorted .01, .02, .03, .04 times 4, 3, 2, 1 = .04, .06, .06, .04; the last may not fall below .06.
    corrected = holm([Difference(some, p) for p in (0.03, 0.01, None, 0.04, 0.02)])
    assert [d.p_holm for d in corrected] == [0.06, 0.04, None, 0.06, 0.06]
    assert [d.is_distinguishable for d in corrected] == [False, True, False, False, False]
    assert holm([Difference(some, 0.9), Difference(some, 0.8)])[1].p_holm == 1.0


def the_interval_has_its_stated_coverage() -> None:
    random = np.random.default_rng(1)
    hits = sum(
        estimate.low <= 0.0 <= estimate.high
        for estimate in (mean(random.normal(size=5).tolist()) for _ in range(2000))
        if estimate.low is not None and estimate.high is not None
    )
    # 95 % of 2000 is 1900, standard deviation 9.7.
    assert 1860 <= hits <= 1940


def t_factors_shrink_with_the_runs() -> None:
    assert statistics.t_factor(1) is None
    assert statistics.t_factor(10) == pytest.approx(2.2622 / 10**0.5, abs=1e-4)
