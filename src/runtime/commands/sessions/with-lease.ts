import type { SessionId } from "../../../protocol/ids.js";
import { StoreError } from "../../../sessions/store.js";
import type { OpenPort } from "./port.js";

/** Works on a session that no other process has open; otherwise throws with `advice`. */
export async function withLease<T>(
  { store }: Pick<OpenPort, "store">,
  { session, advice }: { readonly session: SessionId; readonly advice: string },
  work: () => Promise<T>,
): Promise<T> {
  const lease = await store.lease(session).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== "leased") throw error;
    throw new StoreError("leased", `${error.message} ${advice}`, { cause: error });
  });
  try {
    return await work();
  } finally {
    await lease.release();
  }
}
