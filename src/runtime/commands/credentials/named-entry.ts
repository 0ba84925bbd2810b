/** The entry that the arguments of a command name. */

import { UsageError } from "../../../base/usage-error.js";
import type { CommandArguments } from "../../../commands/command.js";
import { DEFAULT_ACCOUNT } from "../../../security/credentials/entry.js";

export interface NamedEntry {
  readonly provider: string;
  readonly account: string;
}

export function namedEntry(args: CommandArguments): NamedEntry {
  const provider = args.text("PROVIDER") ?? "";
  const [account, ...more] = args.list("ACCOUNT");
  // `creds add PROVIDER ACCOUNT KEY` is a likely mistake.
  if (more.length > 0)
    throw new UsageError("Do not put the key on the command line: Oxbow asks for it, or use --stdin.");
  const named = args.flag("account");
  if (account !== undefined && named !== undefined && account !== named)
    throw new UsageError("Give one account, not two.");
  const chosen = account ?? named ?? DEFAULT_ACCOUNT;
  if (!/^[\w.@+-]{1,100}$/.test(chosen)) {
    throw new UsageError(
      "The name of an account has only letters, digits and . _ @ + -. Do not put the key on the command line.",
    );
  }
  return { provider, account: chosen };
}
