ALTER TABLE runs ADD COLUMN workbench BOOLEAN DEFAULT FALSE;

ALTER TABLE runs ADD COLUMN expires_at_utc TIMESTAMPTZ DEFAULT NULL;

CREATE TABLE "actions" (
  "asset" VARCHAR NOT NULL,
  "ex_date" DATE NOT NULL,
  "kind" VARCHAR NOT NULL,
  "source" VARCHAR NOT NULL,
  "value" DOUBLE NOT NULL,
  "known_at_utc" TIMESTAMPTZ NOT NULL,
  "fetched_at_utc" TIMESTAMPTZ NOT NULL,
  CHECK ("value" > 0 AND isfinite("value")),
  PRIMARY KEY ("asset", "ex_date", "kind", "source")
);

CREATE TABLE "quotes" (
  "asset" VARCHAR NOT NULL,
  "at_utc" TIMESTAMPTZ NOT NULL,
  "source" VARCHAR NOT NULL,
  "price" DOUBLE NOT NULL,
  "fetched_at_utc" TIMESTAMPTZ NOT NULL,
  CHECK (price > 0 AND isfinite(price)),
  PRIMARY KEY ("asset", "at_utc", "source")
);

CREATE TABLE "jobs" (
  "job" VARCHAR NOT NULL,
  "kind" VARCHAR NOT NULL,
  "title" VARCHAR NOT NULL,
  "request_json" VARCHAR NOT NULL,
  "requested_by" VARCHAR NOT NULL,
  "origin" VARCHAR NOT NULL,
  "status" VARCHAR NOT NULL,
  "step" VARCHAR NOT NULL,
  "n_done" BIGINT NOT NULL,
  "n_planned" BIGINT NOT NULL,
  "spent_usd" DOUBLE NOT NULL,
  "budget_usd" DOUBLE,
  "eta_s" DOUBLE,
  "run" VARCHAR,
  "error" VARCHAR,
  "stop_asked" BOOLEAN NOT NULL,
  "created_at_utc" TIMESTAMPTZ NOT NULL,
  "started_at_utc" TIMESTAMPTZ,
  "finished_at_utc" TIMESTAMPTZ,
  PRIMARY KEY ("job")
);

CREATE TABLE "live_seasons" (
  "run" VARCHAR NOT NULL,
  "label" VARCHAR NOT NULL,
  "spec_json" VARCHAR NOT NULL,
  "strategies_json" VARCHAR NOT NULL,
  "budget_day_usd" DOUBLE,
  "budget_usd" DOUBLE,
  "enrolled_by" VARCHAR NOT NULL,
  "enrolled_at_utc" TIMESTAMPTZ NOT NULL,
  "ended_at_utc" TIMESTAMPTZ,
  PRIMARY KEY ("run")
);

CREATE TABLE "audit" (
  "seq" BIGINT NOT NULL,
  "at_utc" TIMESTAMPTZ NOT NULL,
  "who" VARCHAR NOT NULL,
  "action" VARCHAR NOT NULL,
  "origin" VARCHAR NOT NULL,
  "detail_json" VARCHAR NOT NULL,
  PRIMARY KEY ("seq")
);

CREATE TABLE "timings" (
  "run" VARCHAR NOT NULL,
  "as_of_utc" TIMESTAMPTZ NOT NULL,
  "step" VARCHAR NOT NULL,
  "started_at_utc" TIMESTAMPTZ NOT NULL,
  "took_s" DOUBLE NOT NULL,
  "detail" VARCHAR NOT NULL,
  PRIMARY KEY ("run", "as_of_utc", "step", "started_at_utc")
);
