/** Tokens on the command line: with the running engine if there is one, otherwise with the files of this user. */

import { randomBytes } from "node:crypto";
import { type Column, renderTable } from "../../base/text-table.js";
import { createIdSource } from "../../base/ulid.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { confirmationChannels } from "../../control/auth/channels.js";
import { makeClaims, type WantedClaims } from "../../control/auth/claims.js";
import { writePrivateFile } from "../../control/auth/private-file.js";
import type { IssuedToken } from "../../control/auth/token-records.js";
import { type NewToken, serviceTokens, Tokens } from "../../control/auth/tokens.js";
import { asValue, type Command, refuse } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { TOKEN_LIST, TOKEN_REVOKE } from "../../runtime/commands/program.js";
import { nodeClock } from "../../system/node-clock.js";
import { roots } from "../../system/xdg-paths.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { askOnce } from "../terminal-io.js";
import { askEngine } from "./ask-engine.js";
import { wantedToken } from "./wanted-token.js";

export async function makeToken(flags: ParsedFlags, variables: Variables): Promise<number> {
  const wanted = wantedToken(flags);
  if (wanted.sessions === undefined && wanted.folders === undefined)
    throw new UsageError(
      "Name the session: oxbow token --session ID ('oxbow session list' shows the ids). Or a folder: --folder DIR.",
    );
  const made = (await throughEngine(wanted, variables)) ?? (await here(wanted, variables));
  if ("problem" in made) {
    printMessage(made.problem);
    return EXIT.failed;
  }
  process.stdout.write(flags.has("json") ? `${JSON.stringify(made, null, 2)}\n` : `${made.token}\n`);
  return EXIT.answered;
}

type Made = NewToken | { readonly problem: string };

/** Undefined if no engine listens. */
async function throughEngine(wanted: WantedClaims, variables: Variables): Promise<Made | undefined> {
  const places = roots(variables);
  const asked = await askEngine(places, { method: "GET", path: `/v1/auth/token?${queryOf(wanted)}` });
  if (asked === undefined) return undefined;
  if (asked.status !== 202) return problemIn(asked.body);
  const { request, where } = asked.body;
  const code = await askCode(`Code (${where}): `);
  const confirmed = await askEngine(places, { method: "POST", path: "/v1/auth/token", body: { request, code } });
  if (confirmed === undefined) return { problem: "The engine ended before the token was made." };
  return confirmed.status === 201 ? (confirmed.body as unknown as NewToken) : problemIn(confirmed.body);
}

/** The code appears on the terminal of this program. */
async function here(wanted: WantedClaims, variables: Variables): Promise<Made> {
  const channels = confirmationChannels("tty", { notifyPeople: () => 0, variables });
  const tokens = await Tokens.open({ stateFolder: roots(variables).state, clock: nodeClock, channels });
  const opened = await tokens.request(wanted, {});
  if ("failure" in opened) return { problem: opened.failure.message };
  const made = await tokens.confirm(opened.request, await askCode("Code: "), {});
  return "failure" in made ? { problem: made.failure.message } : made;
}

async function askCode(question: string): Promise<string> {
  return ((await askOnce(question)) ?? "").trim();
}

function queryOf(wanted: WantedClaims): string {
  const query = new URLSearchParams({ identity: wanted.identity_class });
  for (const session of wanted.sessions ?? []) query.append("session", session);
  for (const folder of wanted.folders ?? []) query.append("folder", folder);
  if (wanted.commands !== undefined) query.set("commands", wanted.commands.join(","));
  if (wanted.lifetimeSeconds !== undefined) query.set("expires", `${wanted.lifetimeSeconds}s`);
  if (wanted.display_name !== undefined) query.set("name", wanted.display_name);
  if (wanted.can_mint) query.set("can_mint", "true");
  return query.toString();
}

function problemIn({ error }: JsonObject): { readonly problem: string } {
  const message = isJsonObject(error) ? error.message : undefined;
  return { problem: typeof message === "string" ? message : "The engine refused the request." };
}

/** A secret that any engine accepts which is given the file. */
export async function writeTokenFile(path: string, flags: ParsedFlags): Promise<number> {
  const ids = createIdSource({ wall: nodeClock.wall, random: (bytes) => crypto.getRandomValues(bytes) });
  const claims = makeClaims(wantedToken(flags), { jti: ids.next("tok"), now: nodeClock.wall() / 1000 });
  const token = randomBytes(32).toString("base64url");
  const text = `${JSON.stringify({ token, ...claims }, null, 2)}\n`;
  const written = await writePrivateFile(path, text, { when: "create", mode: 0o400 });
  if (!written) throw new UsageError(`${path} exists already.`);
  process.stdout.write(`${path} · ${claims.jti} · until ${new Date(claims.exp * 1000).toISOString()}\n`);
  return EXIT.answered;
}

export function tokenCommands(variables: Variables): readonly Command[] {
  return [
    {
      ...TOKEN_LIST,
      run: async (_args, { screen }) => {
        const all = (await serviceTokens(variables, nodeClock)).list();
        const text =
          all.length === 0
            ? "There are no tokens."
            : renderTable(COLUMNS, all, { width: screen?.width, color: screen?.color === true });
        return { text, value: asValue(all) };
      },
    },
    {
      ...TOKEN_REVOKE,
      run: async (args) => {
        const id = args.text("ID") ?? "";
        if (!id.startsWith("tok_")) return refuse("The id of a token begins with tok_. 'oxbow token list' shows them.");
        const asked = await askEngine(roots(variables), {
          method: "DELETE",
          path: `/v1/auth/tokens/${encodeURIComponent(id)}`,
        });
        // The engine reads the same list, so this works as well while it runs.
        if (asked?.status !== 204) await (await serviceTokens(variables, nodeClock)).revoke(id as `tok_${string}`);
        return { text: `${id} is revoked.`, value: { revoked: id } };
      },
    },
  ];
}

const COLUMNS: readonly Column<IssuedToken>[] = [
  { header: "ID", value: ({ jti }) => jti, priority: 3 },
  { header: "IDENTITY", value: ({ identity_class }) => identity_class, priority: 2 },
  { header: "SESSIONS", value: ({ sessions }) => sessions?.join(" ") ?? "all", priority: 1 },
  { header: "FOLDERS", value: ({ folders }) => folders?.join(" ") },
  { header: "COMMANDS", value: ({ commands }) => commands?.join(" ") ?? "all" },
  { header: "EXPIRES", value: expiryOf, priority: 2 },
  { header: "NAME", value: ({ display_name }) => display_name },
];

function expiryOf({ exp, revoked_at }: IssuedToken): string {
  return revoked_at === undefined ? new Date(exp * 1000).toISOString() : "revoked";
}
