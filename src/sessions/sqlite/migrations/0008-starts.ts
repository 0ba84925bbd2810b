/** The environment and the umask of the terminal that a session works for, as JSON. */
export const sql = `
CREATE TABLE starts (
  session INTEGER PRIMARY KEY,
  start TEXT NOT NULL
) STRICT;
`;
