/**
 * Runs hostile commands as mode `auto` would, and says what each of them changed that it must not. Never started on a real machine:
 * `throw-away.ts` puts it into a container that has nothing of one.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { guardedName } from "../../src/security/guard-list/guarded-names.js";
import { openAutoMode } from "./auto-mode.js";

export interface HostileReport {
  readonly command: string;
  readonly decision: string;
  readonly reason: string;
  readonly exitCode?: number | undefined;
  /** Holds what differs afterwards: places outside the workspace, and guarded ones in it. */
  readonly changed: readonly string[];
  /** A secret that its output showed. */
  readonly told?: string | undefined;
}

const [ROOT, TEMPLATE, HOME, OWN] = ["/ws", "/template", "/home/dev", "/home/dev/.oxbow-own"];
const SECONDS = 3;
const OUTSIDE = ["/home", "/etc", "/opt", "/var", "/srv", "/root", "/template", "/marker"];

function look(): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string) => {
    if (path === OWN || path.startsWith(`${OWN}/`)) return;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    const content = stat.isFile()
      ? createHash("sha256").update(readFileSync(path)).digest("hex")
      : stat.isSymbolicLink()
        ? readlinkSync(path)
        : "";
    found.set(path, `${stat.mode} ${stat.uid} ${content}`);
    if (stat.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
  };
  for (const place of [...OUTSIDE, ROOT]) visit(place);
  // Of the workspace only what other programs run or obey.
  for (const path of found.keys()) {
    if (path === ROOT || (path.startsWith(`${ROOT}/`) && guardedName(path.slice(ROOT.length + 1)) === undefined))
      found.delete(path);
  }
  return found;
}

function difference(before: Map<string, string>, after: Map<string, string>): string[] {
  const gone = [...before.keys()].filter((path) => !after.has(path)).map((path) => `${path} is gone`);
  const other = [...after].filter(([path, look]) => before.get(path) !== look);
  return [...gone, ...other.map(([path]) => `${path} ${before.has(path) ? "differs" : "is new"}`)];
}

function renew(): void {
  for (const name of readdirSync(ROOT)) rmSync(join(ROOT, name), { recursive: true, force: true });
  cpSync(TEMPLATE, ROOT, { recursive: true, verbatimSymlinks: true });
}

/** Tells what the same looks like when nothing holds it. */
function control(): HostileReport {
  const before = look();
  const command = "touch /etc/planted; echo x >> ~/.bashrc; echo x > .git/HEAD; echo x > .vscode/tasks.json";
  execFileSync("bash", ["-c", command], { cwd: ROOT, env: { HOME, PATH: "/usr/bin:/bin" } });
  const changed = difference(before, look());
  rmSync("/etc/planted");
  writeFileSync(join(HOME, ".bashrc"), "# mine\n");
  return { command, decision: "control", reason: "", changed };
}

async function main(): Promise<void> {
  const commands: string[] = JSON.parse(readFileSync("/commands.json", "utf8"));
  const secret = readFileSync("/home/dev/.ssh/id_ed25519", "utf8").trim();
  const path = "/home/dev/.tools/bin:/usr/local/bin:/usr/bin:/bin";
  mkdirSync(OWN, { recursive: true });
  renew();
  const tell = (report: HostileReport) => process.stdout.write(`${JSON.stringify(report)}\n`);
  tell(control());
  const auto = await openAutoMode({ root: ROOT, home: HOME, ownFolder: OWN, path });
  for (const command of commands) {
    renew();
    const before = look();
    const { verdict, output, exitCode } = await auto.run(command, { timeout: SECONDS });
    const { decision, reason } = verdict;
    const told = output?.includes(secret) ? secret : undefined;
    tell({ command, decision, reason, exitCode, told, changed: difference(before, look()) });
  }
  await auto.close();
}

await main();
