/** `auth list`: names, never keys. Needs no key itself. */

import type { Variables } from "../../../base/variables.js";
import { asValue, type CommandResult } from "../../../commands/command.js";
import type { NamedProvider } from "../../../providers/named.js";
import { type CatalogueEntry, readCatalogue } from "../../../security/credentials/catalogue.js";
import { credentialFile } from "../../credentials/credential-places.js";
import type { CredentialsPort } from "./commands.js";
import { openDirectory } from "./open-directory.js";

interface Row {
  readonly provider: string;
  readonly account: string;
  readonly kind: "key" | "sign-in";
  readonly from: string;
  readonly for: string;
  readonly added: string;
}

export async function listKeys({ variables }: Pick<CredentialsPort, "variables">): Promise<CommandResult> {
  const directory = await openDirectory(variables);
  const rows = [
    ...fromEnvironment(directory.reachable(), variables),
    ...(readCatalogue(credentialFile(variables))?.entries ?? []).map(stored),
  ];
  return {
    text: rows.length === 0 ? "No keys. Store one: oxbow auth set anthropic" : table(rows),
    value: asValue(rows),
  };
}

function fromEnvironment(providers: readonly NamedProvider[], variables: Variables): Row[] {
  return providers.flatMap(({ name, keyName }) =>
    keyName !== undefined && variables[keyName]?.trim()
      ? [{ provider: name, account: "", kind: "key", from: `environment (${keyName})`, for: "", added: "" }]
      : [],
  );
}

function stored({ provider, account, kind, baseUrl, addedAt, identity }: CatalogueEntry): Row {
  return {
    provider,
    account: identity === undefined ? account : `${account} (${identity})`,
    kind: kind === "oauth" ? "sign-in" : "key",
    from: "stored",
    for: baseUrl,
    added: new Date(addedAt).toISOString().slice(0, 10),
  };
}

function table(rows: readonly Row[]): string {
  const columns = ["provider", "account", "kind", "from", "for", "added"] as const;
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)));
  const padded = (line: readonly string[]) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0));
  return lines.map((line) => padded(line).join("  ").trimEnd()).join("\n");
}
