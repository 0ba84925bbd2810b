/**
 * What was spent, kept beside the log so that reports need not read it: a row for each session, model and quarter of an hour
 * (`quarter` counts them since 1970). `nano_usd` are thousand-millionths of a dollar: integers add up exactly.
 */
export const sql = `
CREATE TABLE spending (
  session INTEGER NOT NULL,
  quarter INTEGER NOT NULL,
  provider INTEGER NOT NULL,
  model INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  elapsed_ms INTEGER NOT NULL,
  nano_usd INTEGER NOT NULL,
  unpriced INTEGER NOT NULL,
  PRIMARY KEY (session, quarter, provider, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_quarter ON spending (quarter);
`;
