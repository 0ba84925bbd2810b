/** The profile that a session began with. */
export const sql = `
ALTER TABLE sessions ADD COLUMN profile TEXT;
`;
