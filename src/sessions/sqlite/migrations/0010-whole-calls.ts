/** Calls whose changes are applied as a whole or not at all. */
export const sql = `
ALTER TABLE calls ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
`;
