/**
 * The messages of whole turns, beside the log (stretches.ts). `place` is that of the last event that a stretch stands for,
 * `after` the id of the event before its first.
 */
export const sql = `
CREATE TABLE stretches (
  place INTEGER PRIMARY KEY,
  after INTEGER NOT NULL,
  encoding INTEGER NOT NULL,
  body BLOB NOT NULL,
  holes BLOB NOT NULL,
  tag BLOB NOT NULL
) STRICT;
`;
