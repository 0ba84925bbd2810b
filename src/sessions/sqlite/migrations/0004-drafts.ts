/** Sessions during a copy or an import: only their creator sees them until their row here is removed. */
export const sql = `
CREATE TABLE drafts (
  session INTEGER PRIMARY KEY
) STRICT;
`;
