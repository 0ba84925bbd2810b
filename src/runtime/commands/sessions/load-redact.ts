/** Redacts exported data again: there may be new rules since it was written. */
export async function loadRedact(): Promise<(text: string) => string> {
  const { redact } = await import("../../../security/redact/redact.js");
  return redact;
}
