/** What stands where a secret was. */
export function marker(kind: string): string {
  return `«redacted:${kind}»`;
}

export const MARKER = /«redacted:[a-z0-9-]+»/;
