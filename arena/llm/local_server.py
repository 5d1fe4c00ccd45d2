"""llama.cpp's server as a process of its own: `python -m arena.llm.local_server FILE.gguf`.

It prints its address, and ends when its standard input does, that is, with whoever started it,
however that one ended. Inside the arena's own process it could not be stopped while it answers.
"""

from __future__ import annotations

import os
import sys

CONTEXT_TOKENS = 2048
THREADS = 2
TOP_K, MIN_P = 40, 0.05
"""llama.cpp's own cut of the unlikely tail, stated because a model this small needs one."""


def main(weights: str, alias: str) -> None:
    """Serve `weights` under the name `alias` on a free port of 127.0.0.1, one request at a time."""
    # Read when the library is loaded. Threads that wait actively for one another need a core each;
    # where those are shared, an answer took ten times as long.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path = weights
    params.model_alias = {alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.sampling.top_k, params.sampling.min_p = TOP_K, MIN_P
    # A prompt that is partly known is computed in other portions, which changes the last digits
    # and so, now and then, a word: the same request must get the same answer.
    params.cache_prompt = False
    params.ui = params.endpoint_slots = False
    params.verbosity = 0
    server = Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # An orderly end would wait for the request under way.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
