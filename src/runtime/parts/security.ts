/** What the security commands of one run show and change. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { LateConsumer } from "../../base/late-consumer.js";
import type { Variables } from "../../base/variables.js";
import type { Command } from "../../commands/command.js";
import type { ToolRegistry } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { AuditRing } from "../../security/audit/audit-ring.js";
import type { RulePlace } from "../../security/permissions/commands.js";
import type { RunPermissions } from "./permissions.js";
import type { RunSandbox } from "./sandbox.js";

export interface RunSecurityOptions {
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  readonly tools: ToolRegistry;
  readonly variables: Variables;
  /** The files that rules go to which outlive the session. */
  readonly ruleFiles: Readonly<Record<RulePlace, string>>;
  /** Events of earlier runs of the session, oldest first. */
  readonly history?: (() => AsyncIterable<Envelope>) | undefined;
}

/** Enough to fill the ring if it is loaded late. */
const MOST_EARLY = 4000;

export class RunSecurity {
  readonly #options: RunSecurityOptions;
  /** Loaded with the first command that shows it. */
  readonly #ring = new LateConsumer({
    load: () => this.#loadRing(),
    consume: (ring, event: Envelope) => ring.see(event),
    most: MOST_EARLY,
  });

  constructor(options: RunSecurityOptions) {
    this.#options = options;
  }

  onEvent(event: Envelope): void {
    if (event.kind === "TextDelta" || event.kind === "ThinkingDelta" || event.kind === "ToolCallProgress") return;
    // The audit does not need outputs, so they are not kept.
    const lean = event.kind === "ToolResult" ? { ...event, payload: { ...event.payload, content: [] } } : event;
    this.#ring.push(lean);
  }

  async commands(): Promise<readonly Command[]> {
    const { securityCommands } = await import("../commands/security.js");
    return securityCommands({
      ...this.#options,
      ring: () => this.#ring.ready(),
      keepRules: (toml, place) => this.#keepRules(toml, this.#options.ruleFiles[place]),
    });
  }

  /** Why safe mode refuses a command that the user typed; undefined if it may run. */
  async refusalOf(command: string): Promise<string | undefined> {
    const { engine, safeMode } = await this.#options.permissions.parts();
    if (!(await safeMode.load()).on) return undefined;
    const verdict = await engine.test({ tool: { name: "bash", set: "command", mutating: true }, args: { command } });
    return verdict.law === "safe mode" ? verdict.reason : undefined;
  }

  async #loadRing(): Promise<AuditRing> {
    const { AuditRing } = await import("../../security/audit/audit-ring.js");
    const ring = new AuditRing();
    for await (const event of this.#options.history?.() ?? []) ring.see(event);
    return ring;
  }

  /** Writes only if the file stays valid. The rules hold at once. */
  async #keepRules(toml: string, file: string): Promise<string> {
    const { parse } = await import("smol-toml");
    const before = await readFile(file, "utf8").catch(() => "");
    const separator = before === "" || before.endsWith("\n") ? "" : "\n";
    parse(`${before}${separator}\n${toml}`);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${separator}\n${toml}`, { mode: 0o600 });
    await (await this.#options.permissions.parts()).addRules(parse(toml).permissions, file);
    return file;
  }
}
