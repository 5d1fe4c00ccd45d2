"""Methods: what the numbers mean and what they do not."""

import streamlit as st

from arena.ui.states import DISCLAIMER

st.title("Methods")
st.markdown(
    """
An **entry** is an agent with a model. At every **slot**, after a session of an asset has closed, each
entry is shown the same sealed market (260 closed bars, nothing later) and its own position, and answers
BUY, SELL or HOLD. A **strategy** turns these words into positions; each strategy is an account of its own.

- **Baseline**: BUY is long, SELL is short, HOLD is out. **Flip on Reversal** keeps the position until the
  opposite word. **Pyramid Exit** enters at once and leaves in three steps.
- **Fills**: `next` trades at the first price after the slot. `close` trades at the close that the decision
  has seen, as the paper does, and is labelled so.
- **Net return** is V_T / V_0 - 1 after fees, V_0 the capital before the first fee. **Sharpe** is mean over
  sample deviation of daily returns times the root of 365 (a coin in the curve) or 252. **Max DD** is the
  largest fall from a peak. **Win** is the share of round trips with a profit after fees.
- **Buy & Hold** enters at the first session under the same fill and fees and stands in every table.
- **News**: every agent of a slot reads the same **brief**, made of the stories that became known since the slot before.
  Four rules score it from 0 to 2: dates, coverage of price drivers, bias, diversity of sources; the evidence
  stands beside each score, and two people can score it apart. A day without news is no failure, a source
  that did not answer is.
- A failed answer is a status, drawn as a cross and counted. It acts as HOLD; it is never hidden.

Every metric with its formula and its edge cases is in `docs/metrics.md` of the source, the path of one
decision in `docs/protocol.md`, and what was chosen where no source decides in `docs/decisions.md`.

What does not follow from these tables: that an entry is better than another. Windows are short, and no
test of luck is shown yet. Stand-ins are fixed rules without a language model; they are there so that the
arena can be seen at work without a key. Sample assets are fictional and their prices are made up.
"""
)
st.markdown(f":small[:gray[{DISCLAIMER}]]")
