"""The twelve investing creeds of the hedge fund, each a module with one `PERSONA`.

To add one, write its module and put it into `PERSONAS`; docs/personas.md says whom each follows.
"""

from __future__ import annotations

from arena.agents.hedge.personas import (
    active_owner,
    asymmetric_bets,
    conviction_growth,
    deep_value,
    disruption,
    intrinsic_value,
    low_risk_doubles,
    net_net,
    owner_earnings,
    quality_growth,
    reasonable_price,
    wonderful_business,
)
from arena.agents.hedge.scoring import Persona

PERSONAS: tuple[Persona, ...] = (
    intrinsic_value.PERSONA,
    net_net.PERSONA,
    active_owner.PERSONA,
    disruption.PERSONA,
    wonderful_business.PERSONA,
    deep_value.PERSONA,
    low_risk_doubles.PERSONA,
    reasonable_price.PERSONA,
    quality_growth.PERSONA,
    conviction_growth.PERSONA,
    asymmetric_bets.PERSONA,
    owner_earnings.PERSONA,
)
