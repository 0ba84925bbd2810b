/** How the database reports a damaged log. */
import { ChainBreak } from "../chain-break.js";
import { StoreError } from "../store.js";

/** What a reader gets instead of a break in the chain. */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof ChainBreak)) return error;
  return new StoreError("damaged", `The log of this session is damaged. ${error.message}`, { cause: error });
}

/** Rows that the database itself cannot make sense of are a break in the chain like any other. */
export function readable<T>(id: number, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "damaged") throw error;
    throw new ChainBreak("unreadable", id, `Oxbow cannot read the log from event ${id} on: ${error.message}`);
  }
}
