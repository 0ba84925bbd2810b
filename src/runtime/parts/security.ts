/** What the security commands of one run show and change. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { Command } from "../../commands/command.js";
import type { ToolRegistry } from "../../engine/ports.js";
import type { Audit } from "../../security/audit/part.js";
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
  readonly audit: Audit;
}

export class RunSecurity {
  readonly #options: RunSecurityOptions;

  constructor(options: RunSecurityOptions) {
    this.#options = options;
  }

  async commands(): Promise<readonly Command[]> {
    const { securityCommands } = await import("../commands/security.js");
    return securityCommands({
      ...this.#options,
      ring: () => this.#options.audit.ring(),
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
