/** What can be done with stored keys: data, each loaded when it is asked for. */
import type { Flag } from "../../../commands/flags.js";
import type { KeyAction } from "./key-command.js";

const ACCOUNT: Flag = { name: "account", value: "NAME", help: "which of several for this provider (default: default)" };
const JSON_FLAG: Flag = { name: "json", help: "as JSON" };
const SET_FLAGS: readonly Flag[] = [
  ACCOUNT,
  { name: "stdin", help: "read the key from standard input" },
  { name: "key", value: "KEY", help: "the key itself: other programs of this machine can see it while this runs" },
  { name: "base-url", value: "URL", help: "the address the key is for (default: the provider's, or its variable's)" },
  { name: "no-browser", help: "to sign in: open no browser here, show the address and take the code by paste" },
  { name: "yes", short: "y", help: "to sign in: the provider's terms were read, do not ask" },
];

export const AUTH_ACTIONS: readonly KeyAction[] = [
  {
    name: "set",
    usage: "set PROVIDER",
    summary: "store a key, or sign in",
    flags: SET_FLAGS,
    load: () => import("./set.js"),
  },
  {
    name: "list",
    usage: "list",
    summary: "which keys there are and where they come from; no key is shown",
    flags: [JSON_FLAG],
    load: () => import("./list.js"),
  },
  {
    name: "remove",
    usage: "remove PROVIDER",
    summary: "forget a stored key",
    flags: [ACCOUNT],
    load: () => import("./remove.js"),
  },
  {
    name: "unlock",
    usage: "unlock",
    summary: "give the passphrase once, for as long as the helper process lives",
    flags: [{ name: "stdin", help: "read the passphrase from standard input" }],
    load: () => import("./unlock.js"),
  },
  {
    name: "lock",
    usage: "lock",
    summary: "end the helper process, which holds the opened keys",
    flags: [],
    load: () => import("./lock.js"),
  },
];

const action = (name: string): KeyAction => {
  const found = AUTH_ACTIONS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no action ${name}`);
  return found;
};

export const CREDS_ACTIONS: readonly KeyAction[] = [
  { ...action("set"), name: "add", usage: "add PROVIDER [ACCOUNT]", summary: "store a key" },
  action("list"),
  { ...action("remove"), name: "delete", usage: "delete PROVIDER [ACCOUNT]" },
];
