"""Every page run begins here: page config, menu, then the page. Kept alone in its folder, which
Streamlit puts at the head of `sys.path`."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(1, str(ROOT))

SIDEBAR_PX = 208

st.set_page_config(
    page_title="Agent Market Arena", page_icon="📈", layout="wide", initial_sidebar_state=SIDEBAR_PX
)

page = st.navigation(
    {
        "Results": [
            st.Page(
                ROOT / "pages/results/overview.py",
                title="Overview",
                icon=":material/leaderboard:",
                default=True,
            ),
            st.Page(
                ROOT / "pages/results/equity.py",
                title="Equity",
                icon=":material/show_chart:",
                url_path="equity",
            ),
            st.Page(
                ROOT / "pages/results/decisions.py",
                title="Decisions",
                icon=":material/forum:",
                url_path="decisions",
            ),
            st.Page(
                ROOT / "pages/results/architecture.py",
                title="Agent or model?",
                icon=":material/hub:",
                url_path="architecture",
            ),
            st.Page(
                ROOT / "pages/results/market.py",
                title="Market & news",
                icon=":material/newspaper:",
                url_path="market",
            ),
        ],
        "About": [
            st.Page(
                ROOT / "pages/about/methods.py",
                title="Methods",
                icon=":material/menu_book:",
                url_path="methods",
            ),
            st.Page(
                ROOT / "pages/about/health.py",
                title="Health",
                icon=":material/monitor_heart:",
                url_path="health",
            ),
        ],
    }
)
page.run()
