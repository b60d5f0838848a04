from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from aqmlab.stats import statistics
from aqmlab.stats.statistics import MARGIN, Difference, Estimate, family, mean, paired, percentile


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


def the_interval_of_a_percentile_is_that_of_the_share_below_it_as_values() -> None:
    # Five runs of 10 values of 1 to 10. Up to the median 5: 5, 5, 5, 4, 6 of 10 each. Residuals 0, 0, 0, -1, 1:
    # deviation sqrt(2/4), half = 2.7764 * .7071 / sqrt(5) / 10 = .0878. Shares .4122 and .5878 of 50: ranks 21 and 30,
    # which are the values 5 and 6 of merged counts 5, 10, 15, 20 (to 4), 25 (to 5), 30 (to 6).
    counts = np.ones((5, 10))
    counts[3, 4:6] = [0, 2]
    counts[4, 4:6] = [2, 0]
    estimate = percentile(counts, np.arange(1.0, 11.0), 0.5)
    assert (estimate.value, estimate.low, estimate.high) == (5.0, 5.0, 6.0)
    wide = percentile(counts, np.arange(1.0, 11.0), 0.5, lambda value: 0.25)
    assert (wide.low, wide.high, wide.resolution) == (4.75, 6.25, 0.25)


def equal_runs_leave_the_width_of_a_bucket() -> None:
    estimate = percentile(np.ones((5, 5)) * 9, np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 0.5, lambda value: 0.5)
    assert (estimate.value, estimate.low, estimate.high) == (3.0, 2.5, 3.5)


def an_end_beyond_the_largest_value_is_unknown() -> None:
    # One run of five has all the large values: more than a hundredth of all may be above any of them.
    counts = np.array([[100.0, 0.0]] * 4 + [[90.0, 10.0]])
    estimate = percentile(counts, np.array([1.0, 50.0]), 0.99)
    assert (estimate.value, estimate.high, estimate.half_width) == (50.0, None, None)
    # The 99th percentile of twenty values is the largest of them.
    few = percentile(np.eye(20), np.arange(20.0), 0.99)
    assert few.high is None


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
    corrected = family([Difference(some, p) for p in (0.03, 0.01, None, 0.04, 0.02)])
    assert [d.p_holm for d in corrected] == [0.06, 0.04, None, 0.06, 0.06]
    assert [d.is_distinguishable for d in corrected] == [False, True, False, False, False]
    assert family([Difference(some, 0.9), Difference(some, 0.8)])[1].p_holm == 1.0


def intervals_of_a_family_are_bonferronis_and_end_at_zero_where_holm_finds_more() -> None:
    own = np.array([-1.2, 0.4, -0.3, 1.1, 0.9, -0.6, 0.2, -0.5])
    alone = [paired((own + shift).tolist(), [0.0] * 8) for shift in (0.0, 3.0, 4.0, 5.0, 0.95)]
    together = family(alone)
    for one, other in zip(alone, together, strict=True):
        assert one.error is not None
        half = one.error * float(scipy.stats.t.ppf(1.0 - 0.05 / 10, 7))
        low, high = one.estimate.value - half, one.estimate.value + half
        clipped = (max(low, 0.0), high) if other.is_distinguishable else (low, high)
        assert (other.estimate.low, other.estimate.high) == pytest.approx(clipped, rel=1e-9)
    # The last is distinguishable at Holm's second level and not at Bonferroni's.
    assert [one.is_distinguishable for one in together] == [False, True, True, True, True]
    assert together[4].estimate.low == 0.0


def t_factors_shrink_with_the_runs() -> None:
    assert statistics.t_factor(1) is None
    assert statistics.t_factor(10) == pytest.approx(2.2622 / 10**0.5, abs=1e-4)


def paired_tests_agree_with_scipy() -> None:
    random = np.random.default_rng(3)
    for n in (3, 5, 10, 30):
        one, other = random.normal(0.2, 1.0, (2, n))
        ours, theirs = paired(one.tolist(), other.tolist()), scipy.stats.ttest_rel(one, other)
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        interval = theirs.confidence_interval(0.95)
        assert (ours.estimate.low, ours.estimate.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def the_paired_interval_agrees_with_student_himself() -> None:
    # Student (1908), the hours of sleep that two drugs gave ten patients: mean difference 1.58, deviation 1.23,
    # t = 4.0621, p = .00283 (R's `sleep`).
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    difference = paired(second, first)
    assert difference.estimate.value == pytest.approx(1.58)
    assert (difference.estimate.low, difference.estimate.high) == pytest.approx((0.70011, 2.45989), abs=1e-5)
    assert difference.p_value == pytest.approx(0.002833, abs=1e-6)


def the_run_that_moves_a_difference_most_is_found_by_leaving_each_out() -> None:
    values, base = [1.0, 1.2, 0.9, 1.1, -3.0], [0.0] * 5
    one = statistics.influence(values, base)
    assert one is not None
    without = [np.mean(np.delete(values, place)) for place in range(5)]
    assert one.place == int(np.argmax(np.abs(np.array(without) - np.mean(values)))) == 4
    assert one.without == paired(values[:4], base[:4])
    assert not (paired(values, base).p_value or 0.0) < 0.05
    assert (one.without.p_value or 1.0) < 0.05
    assert statistics.influence([1.0, 2.0], [0.0, 0.0]) is None


def steins_rule_asks_for_the_runs_that_its_interval_needs() -> None:
    # Deviation 2, t(4) = 2.7764: within .5 (5 % of 10) for (2.7764 * 2 / .5)^2 = 123.3 runs.
    pilot = [8.0, 9.0, 10.0, 11.0, 12.0]
    scaled = [10.0 + (value - 10.0) * 2.0 / 2.5**0.5 for value in pilot]
    needed = statistics.runs_needed(scaled, 0.05)
    assert needed == 124
    whole = statistics.two_stage([*scaled, *[10.0] * 119], 5)
    assert whole.half_width == pytest.approx(2.7764 * 2.0 / 124**0.5, abs=1e-4)
    assert (whole.half_width or 1.0) <= 0.5
    assert statistics.runs_needed([5.0, 5.0], 0.05) == 2
    assert statistics.runs_needed([-1.0, 1.0], 0.05) is None


def what_is_not_significant_is_the_same_only_where_its_whole_interval_is_within_the_margin() -> None:
    base = [10.0, 10.1, 9.9, 10.0]
    near, noisy, far = family(
        [
            paired([10.01, 10.1, 9.9, 9.99], base),
            paired([14.0, 6.0, 12.0, 8.0], base),
            paired([10.2, 10.3, 10.1, 10.21], base),
        ]
    )
    assert (near.is_distinguishable, near.is_equivalent) == (False, True)
    # Equal means, and nothing is known about them.
    assert noisy.estimate.value == pytest.approx(0.0)
    assert (noisy.is_distinguishable, noisy.is_equivalent) == (False, False)
    # What is beyond chance is not called the same, however small it is.
    assert (far.is_distinguishable, far.is_equivalent) == (True, False)
    assert far.reach is not None
    assert far.reach < MARGIN
    zero = family([paired([0.0, 0.0], [0.0, 0.0])])[0]
    assert zero.is_equivalent
    assert not family([paired([0.0, 1e-9, 0.0], [0.0, 0.0, 0.0])])[0].is_equivalent, "there is no share of nothing"
    assert not paired([1.0], [1.0]).is_equivalent, "one run decides nothing"
