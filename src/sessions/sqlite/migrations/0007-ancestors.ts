/** The logs that the first events of a branch were written to, up to which event (ancestors.ts). */
export const sql = `
CREATE TABLE ancestors (
  session INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  id TEXT NOT NULL,
  log TEXT NOT NULL,
  PRIMARY KEY (session, last_event)
) STRICT, WITHOUT ROWID;
`;
