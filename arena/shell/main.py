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

overview = st.Page(
    ROOT / "pages/results/overview.py",
    title="Overview",
    icon=":material/leaderboard:",
    url_path="",
    default=True,
)


def overview_by_name() -> None:
    """`/overview` leads to `/`, where Streamlit has its default page, with the same parameters."""
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(overview, query_params=asked)


page = st.navigation(
    {
        "Results": [
            overview,
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
            st.Page(
                overview_by_name, title="Overview", url_path="overview", visibility="hidden"
            ),
        ],
        "Experiments": [
            st.Page(
                ROOT / "pages/experiments/launch.py",
                title="Launch a run",
                icon=":material/rocket_launch:",
                url_path="launch",
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


def take_admin_link() -> None:
    """`?admin=TOKEN` unlocks this session, whatever the page. Ours is found only now."""
    from arena.ui import auth, signing_in
    from arena.ui.session import state

    # Where this script is the entry nothing else has printed the link.
    signing_in.announce()
    auth.take_link(state().store)


def run_page() -> None:
    """A query that was broken off is told of in its place; the page stays usable."""
    from arena.core.errors import TooLongError
    from arena.core.memory import spare_libraries
    from arena.ui.prose import for_markdown

    try:
        page.run()
    except TooLongError as error:
        st.error(for_markdown(str(error)), title="This asks for too much", icon=":material/timer_off:")
    finally:
        spare_libraries()


take_admin_link()
run_page()
