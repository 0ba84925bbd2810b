/** Tokens on the command line: with the running engine if there is one, otherwise with the files of this user. */

import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { request } from "node:http";
import { resolve } from "node:path";
import { parseDuration } from "../../base/duration.js";
import { type Column, renderTable } from "../../base/text-table.js";
import { createIdSource } from "../../base/ulid.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { confirmationChannels } from "../../control/auth/channels.js";
import { makeClaims, type WantedClaims } from "../../control/auth/claims.js";
import { writePrivateFile } from "../../control/auth/private-file.js";
import type { IssuedToken } from "../../control/auth/token-records.js";
import { type NewToken, serviceTokens, Tokens } from "../../control/auth/tokens.js";
import { controlPlace, isOwnSocket, ownersToken } from "../../control/control-place.js";
import { asValue, type Command, refuse } from "../../feature/command.js";
import type { ParsedFlags } from "../../feature/flags.js";
import { COMMAND_KINDS } from "../../protocol/commands.js";
import { isId, type SessionId } from "../../protocol/ids.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { TOKEN_LIST, TOKEN_REVOKE } from "../../runtime/commands/program.js";
import { nodeClock } from "../../system/node-clock.js";
import { realpathOrSelf } from "../../system/real-path.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { EXIT } from "../exit-codes.js";
import { printMessage } from "../print-message.js";
import { askOnce } from "../terminal-io.js";

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

export interface EngineAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const PATIENCE_MS = 5000;

/** Undefined if no engine listens. */
export async function askEngine(
  roots: Pick<Roots, "state">,
  {
    method,
    path,
    body,
  }: { readonly method: "GET" | "POST" | "DELETE"; readonly path: string; readonly body?: JsonObject },
): Promise<EngineAnswer | undefined> {
  const place = controlPlace(roots);
  if (!isOwnSocket(place)) throw new UsageError(`${place.socket} does not belong to you.`);
  const token = ownersToken(place);
  const headers = token === undefined ? {} : { "x-oxbow-token": token };
  const socketPath = await place.address();
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, agent: false, timeout: PATIENCE_MS }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        const value = parse(Buffer.concat(pieces).toString("utf8"));
        resolve({ status: response.statusCode ?? 0, body: isJsonObject(value) ? value : {} });
      });
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error("The engine does not answer.")));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function wantedToken(flags: ParsedFlags): WantedClaims {
  const sessions = flags.list("session");
  const wrong = sessions.find((id) => !isId("sess", id));
  if (wrong !== undefined) throw new UsageError(`--session takes the whole id of a session (sess_…), not "${wrong}".`);
  const folders = flags.list("folder").map((path) => realFolder(path));
  const identity = flags.text("identity") ?? "agent";
  if (identity !== "human" && identity !== "agent")
    throw new UsageError(`--identity takes human or agent, not "${identity}".`);
  const name = flags.text("name");
  return {
    identity_class: identity,
    can_mint: flags.has("can-mint"),
    ...(sessions.length > 0 && { sessions: sessions as readonly SessionId[] }),
    ...(folders.length > 0 && { folders }),
    ...commandsOf(flags.text("commands")),
    ...lifetimeOf(flags.text("expires")),
    ...(name !== undefined && { display_name: name.slice(0, 100) }),
  };
}

/** A link could lead elsewhere later, so the token holds the real path. */
function realFolder(path: string): string {
  const real = realpathOrSelf(resolve(path));
  if (statSync(real, { throwIfNoEntry: false })?.isDirectory()) return real;
  throw new UsageError(`--folder: there is no folder ${path}.`);
}

function commandsOf(text: string | undefined): Pick<WantedClaims, "commands"> {
  if (text === undefined) return {};
  const commands = text.split(",").map((name) => name.trim());
  const unknown = commands.find((name) => !COMMAND_KINDS.some((kind) => kind === name));
  if (unknown !== undefined)
    throw new UsageError(`--commands: there is no command "${unknown}". There are ${COMMAND_KINDS.join(", ")}.`);
  return { commands };
}

function lifetimeOf(text: string | undefined): Pick<WantedClaims, "lifetimeSeconds"> {
  if (text === undefined) return {};
  const seconds = Math.floor((parseDuration(text) ?? 0) / 1000);
  if (seconds < 1) throw new UsageError(`--expires takes a time such as 30m, 24h or 7d, not "${text}".`);
  return { lifetimeSeconds: seconds };
}
