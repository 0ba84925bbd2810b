/** The replacement of a secret. */
export function marker(kind: string): string {
  return `«redacted:${kind}»`;
}

export const MARKER = /«redacted:[a-z0-9-]+»/;
