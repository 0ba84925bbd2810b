/** The conversation of a session up to an event, instead of the condensed turns of earlier versions (snapshots.ts). */
export const sql = `
DROP TABLE stretches;
CREATE TABLE snapshots (
  session INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  body BLOB NOT NULL,
  tag BLOB NOT NULL
) STRICT;
`;
