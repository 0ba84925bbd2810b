/** What the security commands of one run look into and change. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { SlashContext, SlashResult } from "../../commands/registry.js";
import type { Bus } from "../../engine/bus.js";
import type { ToolRegistry } from "../../engine/ports.js";
import type { Envelope } from "../../protocol/envelope.js";
import { failure } from "../../protocol/errors.js";
import type { AuditRing } from "../../security/audit/audit-ring.js";
import type { RunPermissions } from "./permissions.js";
import type { RunSandbox } from "./sandbox.js";

export interface RunSecurityOptions {
  readonly bus: Bus;
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  readonly tools: ToolRegistry;
  readonly variables: Variables;
  readonly profilePath: string;
  /** What happened in earlier runs of the session, oldest first. */
  readonly history?: (() => AsyncIterable<Envelope>) | undefined;
}

/** Enough for a full ring, should the commands that look at it come late. */
const MOST_EARLY = 4000;

type Told = { readonly ok: boolean; readonly text: string };

export class RunSecurity implements NonNullable<SlashContext["security"]> {
  readonly #options: RunSecurityOptions;
  #ring: AuditRing | undefined;
  #opening: Promise<AuditRing> | undefined;
  /** Events before the ring was asked for: it is loaded with the first command that looks at it. */
  #early: Envelope[] | undefined = [];

  constructor(options: RunSecurityOptions) {
    this.#options = options;
  }

  onEvent(event: Envelope): void {
    if (event.kind === "TextDelta" || event.kind === "ThinkingDelta" || event.kind === "ToolCallProgress") return;
    if (this.#early === undefined) this.#ring?.see(event);
    else this.#keep(this.#early, event);
  }

  /** Outputs are not for the audit, and would be held for nothing. */
  #keep(early: Envelope[], event: Envelope): void {
    const lean = event.kind === "ToolResult" ? { ...event, payload: { ...event.payload, content: [] } } : event;
    if (early.push(lean) > MOST_EARLY) early.shift();
  }

  async permissions(args: string): Promise<SlashResult> {
    const { engine, paths } = await this.#options.permissions.parts();
    const { permissionsCommand } = await import("../../security/permissions/commands.js");
    const bash = this.#options.tools.find("bash");
    return answer(
      await permissionsCommand(args, {
        policy: () => engine.policy,
        session: engine.session,
        paths,
        home: this.#options.variables.HOME || homedir(),
        test: (command) =>
          engine.test({ tool: bash ?? { name: "bash", set: "command", mutating: true }, args: { command } }),
        appendToProfile: (toml) => this.#appendToProfile(toml),
      }),
    );
  }

  async safeMode(args: string): Promise<SlashResult> {
    const { safeMode } = await this.#options.permissions.parts();
    const { safeModeCommand } = await import("../../security/safe-mode/safe-mode.js");
    return answer(await safeModeCommand(args, safeMode));
  }

  /** Why a command that the person typed does not run; undefined when it may. Only safe mode speaks here. */
  async refusalOf(command: string): Promise<string | undefined> {
    const { engine, safeMode } = await this.#options.permissions.parts();
    if (!(await safeMode.load()).on) return undefined;
    const verdict = await engine.test({ tool: { name: "bash", set: "command", mutating: true }, args: { command } });
    return verdict.law === "safe mode" ? verdict.reason : undefined;
  }

  async audit(args: string): Promise<SlashResult> {
    const { auditCommand } = await import("../../security/audit/audit-command.js");
    return answer(auditCommand(args, await this.#openRing()));
  }

  async why(args: string): Promise<SlashResult> {
    const { engine } = await this.#options.permissions.parts();
    const { whyCommand } = await import("../../security/permissions/commands.js");
    const ring = await this.#openRing();
    return answer(whyCommand(args, (call) => engine.decided(call), ring.entries()));
  }

  /** Who types here is a person: what they approve is approved. */
  async plan(args: string): Promise<SlashResult> {
    const { plan } = (await this.#options.permissions.parts()).engine;
    const verb = args.trim();
    if (verb === "on") plan.enter();
    else if (verb === "approve" || verb === "off") {
      const person = { id: this.#options.bus.originator, identity: "human" } as const;
      const turn = { originator: person.id, originatorIdentity: "human" } as const;
      const left = plan.exit({ approve: true, client: person, turn });
      if (!left.ok) return { failure: failure("InvalidInput", { detail: left.reason }) };
    } else if (verb !== "" && verb !== "status") {
      return { failure: failure("InvalidInput", { detail: "Say /plan on, /plan approve or /plan status." }) };
    }
    return { text: plan.on ? "Plan mode is on: nothing is changed until you say /plan approve." : "Plan mode is off." };
  }

  async overview(): Promise<SlashResult> {
    const { engine, safeMode } = await this.#options.permissions.parts();
    const [{ permissionsText, securityText }, { describeSafeMode }, { auditStatus }, { describeSandbox }] =
      await Promise.all([
        import("../../security/permissions/commands.js"),
        import("../../security/safe-mode/safe-mode.js"),
        import("../../security/audit/audit-command.js"),
        import("../../security/sandbox/state.js"),
      ]);
    const text = securityText({
      sandbox: describeSandbox(await this.#options.sandbox.find()),
      safeMode: describeSafeMode(await safeMode.load()),
      permissions: permissionsText({ policy: () => engine.policy, session: engine.session }),
      audit: auditStatus(await this.#openRing()),
      planMode: engine.plan.on,
    });
    return { text };
  }

  #openRing(): Promise<AuditRing> {
    this.#opening ??= this.#fillRing().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #fillRing(): Promise<AuditRing> {
    const { AuditRing } = await import("../../security/audit/audit-ring.js");
    const ring = new AuditRing();
    for await (const event of this.#options.history?.() ?? []) ring.see(event);
    for (const event of this.#early ?? []) ring.see(event);
    this.#early = undefined;
    this.#ring = ring;
    return ring;
  }

  /** Only text that leaves the profile valid is written. */
  async #appendToProfile(toml: string): Promise<string> {
    const { profilePath } = this.#options;
    const { parse } = await import("smol-toml");
    const before = await readFile(profilePath, "utf8").catch(() => "");
    const separator = before === "" || before.endsWith("\n") ? "" : "\n";
    parse(`${before}${separator}\n${toml}`);
    await mkdir(dirname(profilePath), { recursive: true, mode: 0o700 });
    await appendFile(profilePath, `${separator}\n${toml}`, { mode: 0o600 });
    return profilePath;
  }
}

function answer({ ok, text }: Told): SlashResult {
  return ok ? { text } : { failure: failure("InvalidInput", { detail: text }) };
}
