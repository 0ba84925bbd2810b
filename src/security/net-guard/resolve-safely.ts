/** Resolves a host name to addresses that may be connected to. */
import type { LookupFunction } from "node:net";
import { onAbort } from "../../base/abort-tree.js";
import { networkDetail } from "../../system/http-error.js";
import { isWithin, type Reach } from "./check-url.js";
import { classifyAddress } from "./classify-address.js";
import { parseAddress } from "./ip-address.js";

/** All addresses of a name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export type Resolution =
  | { readonly allowed: true; readonly addresses: readonly string[] }
  | {
      readonly allowed: false;
      readonly reason: string;
      /** The name server has no answer. */
      readonly isUnknown?: true;
    };

export interface ResolveOptions {
  readonly lookup?: Lookup;
  readonly reach?: Reach;
  readonly signal?: AbortSignal;
}

/** One forbidden address refuses the host: a connection could take any of its addresses. */
export async function resolveSafely(host: string, options: ResolveOptions = {}): Promise<Resolution> {
  const { lookup = systemLookup, reach = "public", signal } = options;
  let addresses: readonly string[];
  try {
    addresses = parseAddress(host) === undefined ? await unlessAborted(lookup(host), signal) : [host];
  } catch (error) {
    if (signal?.aborted) throw error;
    return { allowed: false, reason: `${host}: ${networkDetail(error as NodeJS.ErrnoException)}`, isUnknown: true };
  }
  if (addresses.length === 0) return { allowed: false, reason: `${host} has no address` };
  for (const address of addresses) {
    const verdict = classifyAddress(address);
    if (isWithin(reach, verdict)) continue;
    const where = address === host ? host : `${host} leads to ${address}, which`;
    return { allowed: false, reason: `${where} ${verdict.reason}` };
  }
  return { allowed: true, addresses };
}

async function systemLookup(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** A look-up cannot be cancelled, but its caller can stop waiting. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(stopListening);
  });
}

/**
 * For `node:net`: the host leads to these addresses and is not looked up again, so that a name server which answers differently
 * the second time changes nothing. Any other host leads nowhere.
 */
export function pinnedLookup(host: string, addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (asked, { all, family }, callback) => {
    const wanted = family === 4 || family === 6 ? answers.filter((answer) => answer.family === family) : answers;
    const [first] = wanted;
    if (asked !== host || first === undefined) {
      callback(Object.assign(new Error("not a checked address"), { code: "ENOTFOUND" }), "", 0);
    } else if (all) callback(null, wanted);
    else callback(null, first.address, first.family);
  };
}
