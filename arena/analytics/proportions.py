"""How sure a share of successes is: the Wilson score interval."""

from __future__ import annotations

import math
from statistics import NormalDist

Z_95 = NormalDist().inv_cdf(0.975)


def wilson_interval(successes: int, n: int, z: float = Z_95) -> tuple[float, float] | None:
    """Interval (low, high) of the true share behind `successes` of `n`; None for n = 0.

    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n), inside [0, 1] by construction.
    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927); method 3 of R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872.

    Raises:
        ValueError: not 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share; the rule is 0 <= successes <= n")
    if n == 0:
        return None
    share, unsure = successes / n, z * z / n
    middle = share + unsure / 2.0
    reach = math.sqrt(share * (1.0 - share) * unsure + unsure * unsure / 4.0)
    low, high = (middle - reach) / (1.0 + unsure), (middle + reach) / (1.0 + unsure)
    # At the ends the two terms are equal in theory and differ in the last bit.
    return 0.0 if successes == 0 else low, 1.0 if successes == n else high
