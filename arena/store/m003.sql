ALTER TABLE contexts ADD COLUMN n_stories BIGINT DEFAULT 0;

ALTER TABLE contexts ADD COLUMN stories_sha256 VARCHAR DEFAULT NULL;

ALTER TABLE contexts ADD COLUMN brief VARCHAR DEFAULT NULL;

ALTER TABLE contexts ADD COLUMN brief_sha256 VARCHAR DEFAULT NULL;

ALTER TABLE contexts ADD COLUMN fundamentals_sha256 VARCHAR DEFAULT NULL;

CREATE TABLE "articles" (
  "asset" VARCHAR NOT NULL,
  "article" VARCHAR NOT NULL,
  "story" VARCHAR NOT NULL,
  "title" VARCHAR NOT NULL,
  "url" VARCHAR NOT NULL,
  "text" VARCHAR NOT NULL,
  "outlet" VARCHAR NOT NULL,
  "origin" VARCHAR NOT NULL,
  "trust" VARCHAR NOT NULL,
  "kind" VARCHAR NOT NULL,
  "category" VARCHAR NOT NULL,
  "ts_quality" VARCHAR NOT NULL,
  "published_at_utc" TIMESTAMPTZ,
  "known_at_utc" TIMESTAMPTZ NOT NULL,
  "collected_at_utc" TIMESTAMPTZ,
  "suspicion" DOUBLE NOT NULL,
  "flags_json" VARCHAR NOT NULL,
  "fetched_at_utc" TIMESTAMPTZ NOT NULL,
  PRIMARY KEY ("asset", "article")
);

CREATE TABLE "briefs" (
  "brief" VARCHAR NOT NULL,
  "asset" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "as_of_utc" TIMESTAMPTZ NOT NULL,
  "maker" VARCHAR NOT NULL,
  "kind" VARCHAR NOT NULL,
  "status" VARCHAR NOT NULL,
  "content_json" VARCHAR NOT NULL,
  "n_stories" BIGINT NOT NULL,
  "n_items" BIGINT NOT NULL,
  "n_outlets" BIGINT NOT NULL,
  "n_calls" BIGINT NOT NULL,
  "prompt_sha256" VARCHAR,
  "answer_sha256" VARCHAR,
  "tokens_in" BIGINT,
  "tokens_out" BIGINT,
  "cost_usd" DOUBLE,
  "error" VARCHAR,
  "made_at_utc" TIMESTAMPTZ NOT NULL,
  "latency_ms" DOUBLE NOT NULL,
  PRIMARY KEY ("brief")
);

CREATE TABLE "brief_scores" (
  "brief" VARCHAR NOT NULL,
  "rule" VARCHAR NOT NULL,
  "scorer" VARCHAR NOT NULL,
  "score" BIGINT NOT NULL,
  "evidence" VARCHAR NOT NULL,
  CHECK (score BETWEEN 0 AND 2),
  PRIMARY KEY ("brief", "rule", "scorer")
);

CREATE TABLE "reviews" (
  "brief" VARCHAR NOT NULL,
  "reviewer" VARCHAR NOT NULL,
  "revision" BIGINT NOT NULL,
  "date_accuracy" BIGINT NOT NULL,
  "coverage" BIGINT NOT NULL,
  "bias_awareness" BIGINT NOT NULL,
  "source_diversity" BIGINT NOT NULL,
  "rejected" BOOLEAN NOT NULL,
  "note" VARCHAR NOT NULL,
  "at_utc" TIMESTAMPTZ NOT NULL,
  CHECK (date_accuracy BETWEEN 0 AND 2),
  CHECK (coverage BETWEEN 0 AND 2),
  CHECK (bias_awareness BETWEEN 0 AND 2),
  CHECK (source_diversity BETWEEN 0 AND 2),
  PRIMARY KEY ("brief", "reviewer", "revision")
);

CREATE TABLE "notes" (
  "note" VARCHAR NOT NULL,
  "asset" VARCHAR NOT NULL,
  "session" DATE NOT NULL,
  "text" VARCHAR NOT NULL,
  "author" VARCHAR NOT NULL,
  "at_utc" TIMESTAMPTZ NOT NULL,
  PRIMARY KEY ("note")
);

CREATE TABLE "fundamentals" (
  "asset" VARCHAR NOT NULL,
  "field" VARCHAR NOT NULL,
  "period" VARCHAR NOT NULL,
  "filed" DATE NOT NULL,
  "value" DOUBLE NOT NULL,
  "form" VARCHAR NOT NULL,
  "source" VARCHAR NOT NULL,
  "known_at_utc" TIMESTAMPTZ NOT NULL,
  "fetched_at_utc" TIMESTAMPTZ NOT NULL,
  CHECK (isfinite("value")),
  PRIMARY KEY ("asset", "field", "period", "filed")
);

CREATE TABLE "source_health" (
  "source" VARCHAR NOT NULL,
  "at_utc" TIMESTAMPTZ NOT NULL,
  "status" VARCHAR NOT NULL,
  "n_items" BIGINT NOT NULL,
  "n_kept" BIGINT NOT NULL,
  "refused_json" VARCHAR NOT NULL,
  "error" VARCHAR,
  "retry_after_s" DOUBLE,
  PRIMARY KEY ("source", "at_utc")
);
