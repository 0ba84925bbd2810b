/** What leaves the store is looked through once more: rules may have been learnt since it was written. */
export async function loadRedact(): Promise<(text: string) => string> {
  const { redact } = await import("../../../security/redact/redact.js");
  return redact;
}
