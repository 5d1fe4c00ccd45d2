CREATE TABLE "seasons" (
  "season" VARCHAR NOT NULL,
  "settings_json" VARCHAR NOT NULL,
  PRIMARY KEY ("season")
);

CREATE TABLE "runs" (
  "run" VARCHAR NOT NULL,
  "kind" VARCHAR NOT NULL,
  "epoch" BIGINT NOT NULL,
  "season" VARCHAR NOT NULL,
  "parent" VARCHAR,
  "spec_json" VARCHAR NOT NULL,
  "fill" VARCHAR NOT NULL,
  "source" VARCHAR NOT NULL,
  "synthetic" BOOLEAN NOT NULL,
  "start" DATE NOT NULL,
  "end" DATE NOT NULL,
  "n_planned" BIGINT NOT NULL,
  "revision" BIGINT NOT NULL,
  "status" VARCHAR NOT NULL,
  "note" VARCHAR,
  "voided_reason" VARCHAR,
  "code_version" VARCHAR NOT NULL,
  "created_at_utc" TIMESTAMPTZ NOT NULL,
  "finished_at_utc" TIMESTAMPTZ,
  PRIMARY KEY ("run")
);

CREATE TABLE "assets" (
  "asset" VARCHAR NOT NULL,
  "name" VARCHAR NOT NULL,
  "asset_class" VARCHAR NOT NULL,
  "synthetic" BOOLEAN NOT NULL,
  "annual_base" BIGINT NOT NULL,
  "symbols_json" VARCHAR NOT NULL,
  PRIMARY KEY ("asset")
);

CREATE TABLE "bars" (
  "asset" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "revision" BIGINT NOT NULL,
  "open" DOUBLE NOT NULL,
  "high" DOUBLE NOT NULL,
  "low" DOUBLE NOT NULL,
  "close" DOUBLE NOT NULL,
  "adj_close" DOUBLE,
  "volume" DOUBLE,
  "source" VARCHAR NOT NULL,
  "known_at_utc" TIMESTAMPTZ NOT NULL,
  "fetched_at_utc" TIMESTAMPTZ NOT NULL,
  CHECK ("open" > 0 AND isfinite("open")),
  CHECK ("high" > 0 AND isfinite("high")),
  CHECK ("low" > 0 AND isfinite("low")),
  CHECK ("close" > 0 AND isfinite("close")),
  PRIMARY KEY ("asset", "session", "revision")
);

CREATE TABLE "price_checks" (
  "asset" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "kind" VARCHAR NOT NULL,
  "source" VARCHAR NOT NULL,
  "value" DOUBLE,
  "other" DOUBLE,
  "detail" VARCHAR NOT NULL,
  "found_at_utc" TIMESTAMPTZ NOT NULL,
  PRIMARY KEY ("asset", "session", "kind", "source")
);

CREATE TABLE "contexts" (
  "market_hash" VARCHAR NOT NULL,
  "asset" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "as_of_utc" TIMESTAMPTZ NOT NULL,
  "first_session" DATE NOT NULL,
  "n_bars" BIGINT NOT NULL,
  "revision" BIGINT NOT NULL,
  PRIMARY KEY ("market_hash")
);

CREATE TABLE "blobs" (
  "sha256" VARCHAR NOT NULL,
  "text" VARCHAR NOT NULL,
  PRIMARY KEY ("sha256")
);

CREATE TABLE "decisions" (
  "decision" VARCHAR NOT NULL,
  "run" VARCHAR NOT NULL,
  "track" VARCHAR NOT NULL,
  "agent" VARCHAR NOT NULL,
  "model" VARCHAR NOT NULL,
  "asset" VARCHAR NOT NULL,
  "slot_key" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "as_of_utc" TIMESTAMPTZ NOT NULL,
  "seq" BIGINT NOT NULL,
  "phase" VARCHAR NOT NULL,
  "intent" VARCHAR NOT NULL,
  "action" VARCHAR NOT NULL,
  "status" VARCHAR NOT NULL,
  "late" BOOLEAN NOT NULL,
  "conviction" DOUBLE,
  "reason" VARCHAR NOT NULL,
  "evidence_json" VARCHAR NOT NULL,
  "price" DOUBLE NOT NULL,
  "position_before" BIGINT NOT NULL,
  "market_hash" VARCHAR NOT NULL,
  "view_hash" VARCHAR NOT NULL,
  "n_calls" BIGINT NOT NULL,
  "tokens_in" BIGINT,
  "tokens_out" BIGINT,
  "cost_usd" DOUBLE,
  "chain_hash" VARCHAR NOT NULL,
  "decided_at_utc" TIMESTAMPTZ NOT NULL,
  "latency_ms" DOUBLE NOT NULL,
  PRIMARY KEY ("decision")
);

CREATE TABLE "calls" (
  "decision" VARCHAR NOT NULL,
  "seq" BIGINT NOT NULL,
  "kind" VARCHAR NOT NULL,
  "role" VARCHAR NOT NULL,
  "model" VARCHAR NOT NULL,
  "status" VARCHAR NOT NULL,
  "attempt" BIGINT NOT NULL,
  "prompt_sha256" VARCHAR NOT NULL,
  "answer_sha256" VARCHAR NOT NULL,
  "parsed_json" VARCHAR,
  "error" VARCHAR,
  "params_json" VARCHAR NOT NULL,
  "tokens_in" BIGINT,
  "tokens_out" BIGINT,
  "cost_usd" DOUBLE,
  "latency_ms" DOUBLE NOT NULL,
  PRIMARY KEY ("decision", "seq")
);

CREATE TABLE "fills" (
  "account" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "leg" BIGINT NOT NULL,
  "slot_key" VARCHAR NOT NULL,
  "filled_at_utc" TIMESTAMPTZ NOT NULL,
  "units" DOUBLE NOT NULL,
  "price" DOUBLE NOT NULL,
  "fee" DOUBLE NOT NULL,
  "rule" VARCHAR NOT NULL,
  CHECK (price > 0 AND isfinite(price)),
  CHECK (isfinite(units)),
  CHECK (isfinite(fee))
);

CREATE TABLE "equity" (
  "account_key" BIGINT NOT NULL,
  "session" DATE NOT NULL,
  "price" DOUBLE NOT NULL,
  "side" BIGINT NOT NULL,
  "units" DOUBLE NOT NULL,
  "cash" DOUBLE NOT NULL,
  "balance" DOUBLE NOT NULL,
  "balance_gross" DOUBLE NOT NULL,
  CHECK (isfinite(cash)),
  CHECK (isfinite(balance)),
  CHECK (isfinite(balance_gross))
);

CREATE TABLE "account_summary" (
  "account" VARCHAR NOT NULL,
  "account_key" BIGINT NOT NULL,
  "run" VARCHAR NOT NULL,
  "agent" VARCHAR NOT NULL,
  "model" VARCHAR NOT NULL,
  "asset" VARCHAR NOT NULL,
  "strategy" VARCHAR NOT NULL,
  "grp" VARCHAR NOT NULL,
  "start" DATE NOT NULL,
  "end" DATE NOT NULL,
  "n_sessions" BIGINT NOT NULL,
  "n_decisions" BIGINT NOT NULL,
  "n_failed" BIGINT NOT NULL,
  "n_gaps" BIGINT NOT NULL,
  "n_late" BIGINT NOT NULL,
  "balance" DOUBLE NOT NULL,
  "balance_gross" DOUBLE NOT NULL,
  "bankrupt" BOOLEAN NOT NULL,
  "position" BIGINT NOT NULL,
  "last_action" VARCHAR,
  "last_action_session" DATE,
  "metrics_json" VARCHAR NOT NULL,
  "sparkline_json" VARCHAR NOT NULL,
  PRIMARY KEY ("account")
);
