/** `--permission-mode`. */
export const PERMISSION_MODES = ["auto", "review", "ask", "allow", "deny"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];

export function isPermissionMode(value: string): value is PermissionMode {
  return (PERMISSION_MODES as readonly string[]).includes(value);
}
