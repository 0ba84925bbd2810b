/** Tokens: a new one needs a code that a person sees elsewhere. */
import { isAbsolute, normalize } from "node:path";
import { parseDuration } from "../../../../base/duration.js";
import { isId, type SessionId } from "../../../../protocol/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../../protocol/json.js";
import { isOwner, type WantedClaims } from "../../../auth/claims.js";
import { type Call, Refused, refuse } from "../call.js";
import type { Route } from "../route.js";
import { listOf, refer, shape, TEXT, WHOLE, YES_NO } from "../schemas.js";

const LONGEST_SECONDS = 366 * 24 * 60 * 60;

const WANTED: Readonly<Record<string, JsonObject>> = {
  session: { ...TEXT, description: "A session of the token; may be given several times." },
  folder: {
    ...TEXT,
    description: "A folder whose sessions it reaches and that it may open; may be given several times.",
  },
  identity: { enum: ["human", "agent"], default: "agent" },
  commands: { ...TEXT, description: "Commands of the token, with commas; default: all that its identity may send." },
  expires: { ...TEXT, description: "How long it is valid: 30m, 24h (default), 7d." },
  can_mint: { ...YES_NO, default: false },
  name: { ...TEXT, description: "How the holder is shown to others." },
};

export const TOKEN_ROUTES: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/web",
    name: "openWeb",
    summary:
      "Show the web client on a port of this machine; the answer has its address with a code that signs in one page",
    tag: "tokens",
    body: shape({}, { port: { ...WHOLE, maximum: 65_535 }, lan: shape({ folders: listOf(TEXT) }) }),
    answers: { 200: { about: "The web client is there.", schema: refer("WebAddress") } },
    handle: async (call) => {
      requireMinter(call);
      const { port, lan } = await call.body();
      const { openWeb } = call.service;
      if (openWeb === undefined) throw refuse("NotFound", "This engine has no web client.");
      const folders = lan === undefined ? undefined : foldersIn(lan);
      return call.json(
        await openWeb({
          ...(typeof port === "number" && { port }),
          ...(folders !== undefined && { lan: { folders } }),
        }),
      );
    },
  },
  {
    method: "GET",
    path: "/v1/auth/token",
    name: "requestToken",
    summary: "Ask for a token. A person sees a code; POST it here within 60 seconds",
    tag: "tokens",
    query: WANTED,
    answers: {
      202: { about: "A person was shown the code, at the place that `where` names.", schema: refer("Confirmation") },
    },
    handle: requestToken,
  },
  {
    method: "POST",
    path: "/v1/auth/token",
    name: "confirmToken",
    summary: "Get the token with the code",
    tag: "tokens",
    body: shape({ request: TEXT, code: { type: "string", pattern: "^[0-9]{6}$" } }),
    answers: { 201: { about: "The token. It is not shown again.", schema: refer("NewToken") } },
    handle: async (call) => {
      const { request, code } = await call.body();
      if (typeof request !== "string" || typeof code !== "string" || !/^\d{6}$/.test(code)) {
        throw refuse("InvalidInput", 'The body must be JSON such as {"request": "req_…", "code": "123456"}.');
      }
      const isPage = call.claims === undefined && call.place !== "socket";
      const made = await call.service.tokens.confirm(request, code, { claims: call.claims, isPage });
      if ("failure" in made) throw new Refused(made.failure);
      return call.json(made, 201);
    },
  },
  {
    method: "GET",
    path: "/v1/auth/tokens",
    name: "listTokens",
    summary: "The tokens that were made and have not expired, without their text",
    tag: "tokens",
    answers: { 200: { about: "The tokens.", schema: shape({ tokens: listOf(refer("Token")) }) } },
    handle: (call) => {
      requireMinter(call);
      return call.json({ tokens: call.service.tokens.list() });
    },
  },
  {
    method: "DELETE",
    path: "/v1/auth/tokens/{jti}",
    name: "revokeToken",
    summary: "Revoke a token; its open connections end. A token may revoke itself",
    tag: "tokens",
    answers: { 204: { about: "The token is no longer valid." } },
    handle: async (call) => {
      const jti = call.context.req.param("jti") ?? "";
      if (!/^tok_[0-9A-Za-z_-]{1,80}$/.test(jti)) throw refuse("NotFound", "There is no such token.");
      const { claims, service } = call;
      if (claims?.jti !== jti) requireMinter(call);
      await service.tokens.revoke(jti as `tok_${string}`, claims?.jti === jti ? claims.exp : undefined);
      return call.context.body(null, 204);
    },
  },
];

/** Only the owner's token sees and revokes others: a token for one session must not learn of the rest. */
function requireMinter({ claims }: Call): void {
  if (claims !== undefined && isOwner(claims)) return;
  throw refuse("Forbidden", "only the owner's token may list and revoke tokens.");
}

function foldersIn(lan: JsonValue): readonly string[] {
  const folders = isJsonObject(lan) && Array.isArray(lan.folders) ? lan.folders : [];
  const paths = folders.filter((path) => typeof path === "string");
  requireFolders(paths);
  if (paths.length > 0 && paths.length === folders.length) return paths;
  throw refuse("InvalidInput", '"lan" must name folders, such as {"folders": ["/home/me/project"]}.');
}

function requireFolders(folders: readonly string[]): void {
  const wrong = folders.find((path) => !isAbsolute(path) || normalize(path) !== path);
  if (wrong !== undefined || folders.length > 100)
    throw refuse("InvalidInput", '"folder" must be an absolute path, at most 100 times.');
}

async function requestToken(call: Call): Promise<Response> {
  const { claims, service, place } = call;
  // Programs of this user reach the socket without a token: the code is what they lack. A port is open to more.
  if (claims === undefined && place !== "socket") throw refuse("Unauthorized", "send it as X-Oxbow-Token.");
  const client = call.context.req.header("x-oxbow-client");
  const opened = await service.tokens.request(wantedOf(call), { claims, client });
  if ("failure" in opened) throw new Refused(opened.failure);
  return call.json(opened, 202);
}

function wantedOf(call: Call): WantedClaims {
  const query = call.context.req;
  const sessions = query.queries("session");
  const bad = sessions?.find((id) => !isId("sess", id));
  if (bad !== undefined) throw refuse("InvalidInput", '"session" must be the id of a session (sess_…).');
  const folders = query.queries("folder");
  requireFolders(folders ?? []);
  const identity = query.query("identity") ?? "agent";
  if (identity !== "human" && identity !== "agent")
    throw refuse("InvalidInput", '"identity" must be "human" or "agent".');
  const commands = query
    .query("commands")
    ?.split(",")
    .filter((name) => name !== "");
  const name = query.query("name")?.slice(0, 100);
  return {
    identity_class: identity,
    can_mint: query.query("can_mint") === "true",
    ...(sessions !== undefined && { sessions: sessions as SessionId[] }),
    ...(folders !== undefined && { folders }),
    ...(commands !== undefined && { commands }),
    ...(name !== undefined && { display_name: name }),
    ...lifetimeOf(query.query("expires")),
  };
}

function lifetimeOf(text: string | undefined): Pick<WantedClaims, "lifetimeSeconds"> {
  if (text === undefined) return {};
  const seconds = Math.floor((parseDuration(text) ?? 0) / 1000);
  if (seconds >= 1 && seconds <= LONGEST_SECONDS) return { lifetimeSeconds: seconds };
  throw refuse("InvalidInput", '"expires" must be a time such as 30m, 24h or 7d, at most a year.');
}
