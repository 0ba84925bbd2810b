/** The call of another session that a session works for: such a session is a subagent. */
export const sql = `
ALTER TABLE sessions ADD COLUMN parent_session TEXT;
ALTER TABLE sessions ADD COLUMN parent_turn TEXT;
ALTER TABLE sessions ADD COLUMN parent_call TEXT;
`;
