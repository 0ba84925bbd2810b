/** The MCP servers of a session: state, tools with their schemas, resources, prompts, calls by hand, and the traffic of the last minutes. */
import { useEffect, useState } from "preact/hooks";
import { groupDigits } from "../../../base/group-digits.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import type { McpMessage } from "../../../protocol/queries.js";
import { addressOf, go } from "../router.js";
import type { SessionView } from "../store.js";
import { runSlash, useQuery } from "./session-queries.js";
import { countWords } from "./turn.js";

const FRESH_MS = 2000;

/** A server as `/mcp` lists it. */
interface Listed {
  readonly name: string;
  readonly state: string;
  readonly problem?: string;
  readonly from: string;
  readonly scope: string;
  readonly command?: string;
  readonly url?: string;
  readonly protocol?: string;
  readonly tools: readonly string[];
  readonly withheld?: readonly string[];
  readonly prompts?: readonly string[];
  readonly restarts?: number;
}

/** A tool as `/mcp:NAME tools` lists it. */
interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly reads_only: boolean;
}

export function McpTab({ view, rest }: { readonly view: SessionView; readonly rest: readonly string[] }) {
  const [servers, setServers] = useState<readonly Listed[]>();
  const [round, setRound] = useState(0);
  const again = () => setRound((count) => count + 1);
  useEffect(() => {
    void runSlash(view, "mcp", "list").then((answer) => setServers(listedOf(answer?.value)));
  }, [view, round]);
  const starts = servers?.some(({ state }) => state === "starting") ?? false;
  useEffect(() => {
    if (!starts) return;
    const timer = setInterval(again, FRESH_MS);
    return () => clearInterval(timer);
  }, [starts]);
  if (servers === undefined) return <p class="empty">Asking the engine …</p>;
  if (servers.length === 0) {
    return (
      <p class="empty">
        There are no MCP servers. <code>oxbow mcp add NAME COMMAND</code> adds one.
      </p>
    );
  }
  const chosen = servers.find(({ name }) => name === rest[0]) ?? servers[0];
  return (
    <div class="mcp">
      <ul class="servers" aria-label="MCP servers">
        {servers.map(({ name, state, tools }) => (
          <li key={name}>
            <a
              href={addressOf("inside", view.session, "mcp", name)}
              aria-current={name === chosen?.name ? "true" : undefined}
            >
              <span>{safeLine(name)}</span>
              <span class={state === "down" ? "bad" : "dim"}>
                {state}, {countWords(tools.length, "tool", "tools")}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {chosen !== undefined && <Server key={chosen.name} view={view} server={chosen} onChange={again} />}
    </div>
  );
}

function listedOf(value: JsonValue | undefined): readonly Listed[] {
  return Array.isArray(value) ? (value.filter(isJsonObject) as unknown as readonly Listed[]) : [];
}

interface ServerProps {
  readonly view: SessionView;
  readonly server: Listed;
  readonly onChange: () => void;
}

function Server({ view, server, onChange }: ServerProps) {
  const { name, state, problem, from, scope, command, url, protocol, prompts = [], withheld = [], restarts } = server;
  const restart = async () => {
    await runSlash(view, "mcp", `restart ${name}`, { tells: true });
    onChange();
  };
  const facts = [
    ["State", state],
    ["Problem", problem],
    ["From", `${from} (${scope})`],
    ["Runs", command],
    ["Address", url],
    ["Protocol", protocol],
    ["Restarts in the last minute", restarts === undefined ? undefined : String(restarts)],
    ["Held back until you approve", withheld.length === 0 ? undefined : withheld.join(", ")],
  ];
  return (
    <div class="server">
      <h2>{safeLine(name)}</h2>
      <dl class="facts-list">
        {facts.map(([label, text]) =>
          text === undefined ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{safeLine(text)}</dd>
            </div>
          ),
        )}
      </dl>
      <p class="row">
        <button type="button" class="small" onClick={() => void restart()}>
          Restart
        </button>
      </p>
      <Tools view={view} server={server} />
      <Resources view={view} server={server} />
      {prompts.length > 0 && (
        <section>
          <h3>Prompts</h3>
          <ul class="rows">
            {prompts.map((prompt) => (
              <li key={prompt}>
                <code>{safeLine(prompt)}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Traffic view={view} server={name} />
    </div>
  );
}

function Tools({ view, server }: Omit<ServerProps, "onChange">) {
  const [tools, setTools] = useState<readonly ServerTool[]>([]);
  // A server that has just started has brought its tools.
  useEffect(() => {
    void runSlash(view, `mcp:${server.name}`, "tools").then((answer) => {
      setTools(Array.isArray(answer?.value) ? (answer.value as unknown as readonly ServerTool[]) : []);
    });
  }, [view, server.name, server.tools.join()]);
  return (
    <section>
      <h3>Tools</h3>
      {server.tools.length === 0 && <p class="dim">It offers no tools.</p>}
      {tools.map((tool) => (
        <Tool key={tool.name} view={view} tool={tool} />
      ))}
    </section>
  );
}

function Tool({ view, tool }: { readonly view: SessionView; readonly tool: ServerTool }) {
  const { name, description, parameters, reads_only: readsOnly } = tool;
  const [args, setArgs] = useState(() => JSON.stringify(sampleOf(parameters), null, 2));
  const call = async () => {
    const answer = await runSlash(view, "mcp", `call ${name} ${args.replace(/\s*\n\s*/g, " ")}`);
    if (answer !== undefined) go("s", view.session);
  };
  return (
    <details class="tool-row">
      <summary>
        <code>{safeLine(name)}</code> <span class="dim">{readsOnly ? "says that it only reads" : ""}</span>
      </summary>
      <p class="prose-text">{safeText(description)}</p>
      <details>
        <summary>Schema</summary>
        <pre class="wide">{safeText(JSON.stringify(parameters, null, 2))}</pre>
      </details>
      <label class="field">
        <span>Call it with</span>
        <textarea rows={4} value={args} onInput={({ currentTarget }) => setArgs(currentTarget.value)} />
      </label>
      <button type="button" class="small" onClick={() => void call()}>
        Call<span class="hidden"> {safeLine(name)}</span>
      </button>
      <span class="dim"> It asks like any call, and the model gets the result.</span>
    </details>
  );
}

/** An object with the required arguments, to be filled in. */
function sampleOf({ properties, required }: JsonObject): JsonObject {
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const known = isJsonObject(properties) ? properties : {};
  const empty: Readonly<Record<string, JsonValue>> = {
    string: "",
    number: 0,
    integer: 0,
    boolean: false,
    array: [],
    object: {},
  };
  return Object.fromEntries(
    names.map((name) => {
      const schema = known[name];
      const type = isJsonObject(schema) && typeof schema.type === "string" ? schema.type : "string";
      return [name, empty[type] ?? ""];
    }),
  );
}

function Resources({ view, server: { name } }: Omit<ServerProps, "onChange">) {
  const [rows, setRows] = useState<readonly JsonObject[]>();
  const load = async () => {
    const answer = await runSlash(view, `mcp:${name}`, "resources");
    setRows(Array.isArray(answer?.value) ? answer.value.filter(isJsonObject) : []);
  };
  return (
    <section>
      <h3>Resources</h3>
      {rows === undefined && (
        <button type="button" class="small" onClick={() => void load()}>
          Ask the server
        </button>
      )}
      {rows?.length === 0 && <p class="dim">It offers no resources.</p>}
      <ul class="rows">
        {(rows ?? []).map(({ uri, name: label, type }) => (
          <li key={String(uri)}>
            <code>{safeLine(String(uri))}</code>
            <span class="dim">{safeLine([label, type].filter(Boolean).join(", "))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Traffic({ view, server }: { readonly view: SessionView; readonly server: string }) {
  const [answer, again] = useQuery(view, "ListMcpTraffic", { server });
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && again(), FRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const messages = answer?.messages ?? [];
  return (
    <section>
      <h3>Traffic of the last minutes</h3>
      {answer !== undefined && messages.length === 0 && <p class="dim">No message yet.</p>}
      <ul class="traffic">
        {messages.toReversed().map((message, index) => (
          <li key={`${message.at} ${message.id ?? ""} ${messages.length - index}`}>
            <Message message={message} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Message({ message: { at, from, method, id, failed, bytes, text } }: { readonly message: McpMessage }) {
  const words = method ?? `answer${id === undefined ? "" : ` to ${id}`}`;
  return (
    <details>
      <summary class={failed ? "bad" : ""}>
        <span class="dim">{new Date(at).toLocaleTimeString()}</span>{" "}
        <span aria-hidden="true">{from === "client" ? "→" : "←"}</span>
        <span class="hidden">{from === "client" ? "sent" : "received"}</span> {safeLine(words)}
        {failed && " (error)"} <span class="dim">{groupDigits(bytes)} bytes</span>
      </summary>
      <pre class="wide">{pretty(text)}</pre>
    </details>
  );
}

function pretty(text: string): string {
  try {
    return safeText(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return safeText(text);
  }
}
