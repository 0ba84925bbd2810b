/** Sessions that are being copied or imported: nobody but their maker sees them until their row here is gone. */
export const sql = `
CREATE TABLE drafts (
  session INTEGER PRIMARY KEY
) STRICT;
`;
