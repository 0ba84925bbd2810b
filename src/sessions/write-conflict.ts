/** The error of a writer whose view of the log is outdated. */
import type { SessionId } from "../protocol/ids.js";
import { type Fence, StoreError } from "./store.js";

export function outOfOrder(session: SessionId, id: number, expected: number): StoreError {
  const message =
    id < expected
      ? `Event ${id} of ${session} is in the log already; the next is ${expected}. Another process has written to this session.`
      : `Event ${id} of ${session} would leave a gap; the next is ${expected}.`;
  return new StoreError("conflict", message);
}

export function overtaken({ session, head }: Fence, found: number): StoreError {
  return new StoreError(
    "conflict",
    `The log of ${session} ends at event ${found}, not at ${head} as this process knows it.`,
  );
}
