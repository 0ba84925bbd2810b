/** `--permission-mode`. */
export const PERMISSION_MODES = ["auto", "review", "ask", "allow", "deny"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];
