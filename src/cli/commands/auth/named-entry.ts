/** Which entry the words of a command mean. */

import { UsageError } from "../../../base/usage-error.js";
import { DEFAULT_ACCOUNT } from "../../../security/credentials/entry.js";
import type { KeyActionContext } from "./key-command.js";

export function namedEntry({ words, flags }: KeyActionContext): {
  readonly provider: string;
  readonly account: string;
} {
  const [provider, account, ...more] = words;
  if (provider === undefined) throw new UsageError("Which provider? For example: oxbow auth set anthropic");
  // Whoever writes `creds add PROVIDER ACCOUNT KEY` means well.
  if (more.length > 0)
    throw new UsageError("A key is not given as a word: leave it out and it is asked for, or use --stdin.");
  const named = flags.text("account");
  if (account !== undefined && named !== undefined && account !== named)
    throw new UsageError("Two accounts are named.");
  const chosen = account ?? named ?? DEFAULT_ACCOUNT;
  if (!/^[\w.@+-]{1,100}$/.test(chosen)) {
    throw new UsageError("An account's name has letters, digits and . _ @ + - only. A key is not given as a word.");
  }
  return { provider, account: chosen };
}
