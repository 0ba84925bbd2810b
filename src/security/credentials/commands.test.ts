import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rerun } from "../../../test/support/transcript.js";
import { systemClock } from "../../base/clock.js";
import { slashLine } from "../../commands/test-support/slash-line.js";
import { credentialCommands } from "./commands.js";
import { CredentialFile } from "./credential-file.js";
import { findCredentialKey } from "./credential-key.js";
import type { CredentialEntry } from "./entry.js";
import { credentialFile } from "./places.js";

let home: string;
let file: CredentialFile;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "oxbow-auth-"));
  const path = credentialFile({ OXBOW_HOME: home });
  const keychain = { path: "", platform: process.platform, avoid: home };
  const places = { path, folder: join(home, "data"), choice: "file", keychain } as const;
  file = new CredentialFile({ path, clock: systemClock, key: () => findCredentialKey(places) });
});
afterEach(() => rm(home, { recursive: true }));

const TRANSCRIPT = `> auth list
provider   account        kind     from                         for                      added
anthropic                 key      environment (ANTHROPIC_KEY)
anthropic  default        key      stored                       https://models.example   1970-01-02
anthropic  work           key      stored                       https://models.example   1970-01-02
chatgpt    default (me@)  sign-in  stored                       https://chatgpt.example  1970-01-02

> auth remove
refused: Which provider? For example: oxbow auth set anthropic

> auth remove openai
refused: No key is stored for openai (default). 'oxbow auth list' lists the stored keys.

> auth remove anthropic home
refused: No key is stored for anthropic (home). Stored: default, work.

> auth remove anthropic home words
refused: Do not put the key on the command line: Oxbow asks for it, or use --stdin.

> auth remove anthropic home --account work
refused: Give one account, not two.

> auth remove anthropic --account sk/1
refused: The name of an account has only letters, digits and . _ @ + -. Do not put the key on the command line.

> auth remove anthropic work --account work
Removed the key for anthropic. It is still valid: if others know it, revoke it at the provider.

> auth remove anthropic --account work
refused: No key is stored for anthropic (work). Stored: default.

> auth remove anthropic
Removed the key for anthropic. It is still valid: if others know it, revoke it at the provider.

> auth list
provider   account        kind     from                         for                      added
anthropic                 key      environment (ANTHROPIC_KEY)
chatgpt    default (me@)  sign-in  stored                       https://chatgpt.example  1970-01-02

> auth lock
No helper is running.
`;

it("lists keys and deletes them by account, word for word", async () => {
  const variables = { OXBOW_HOME: home, ANTHROPIC_KEY: "x", OPENAI_KEY: " " };
  const known = [
    { name: "anthropic", keyName: "ANTHROPIC_KEY" },
    { name: "openai", keyName: "OPENAI_KEY" },
    { name: "ollama" },
  ];
  const say = slashLine(...credentialCommands({ variables, providers: async () => known, openFile: async () => file }));
  const empty = slashLine(
    ...credentialCommands({
      variables: { OXBOW_HOME: home },
      providers: async () => known,
      openFile: async () => file,
    }),
  );
  expect(await empty("auth list")).toMatchObject({ text: "No keys. Store one: oxbow auth set anthropic", value: [] });
  const endpoint = { baseUrl: "https://models.example", headers: { "x-api-key": "{secret}" } };
  const key = { kind: "api_key", provider: "anthropic", endpoint, addedAt: 86_400_000 } as const;
  for (const account of ["default", "work"]) await file.put({ ...key, account, key: ["some", account].join("-") });
  const signIn = {
    ...{ kind: "oauth", provider: "chatgpt", account: "default", addedAt: 86_400_000 },
    ...{ endpoint: { ...endpoint, baseUrl: "https://chatgpt.example" }, tokens: { identity: "me@" } },
  };
  await file.put(signIn as unknown as CredentialEntry);
  expect(await rerun(TRANSCRIPT, { say })).toBe(TRANSCRIPT);
});
