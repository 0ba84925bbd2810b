import { spawn } from "node:child_process";
import { join } from "node:path";
import { checkLayers, formatViolation } from "../check-layers/check.mjs";
import { checkWording, formatFinding } from "../check-wording/check.mjs";

/** Runs one check and prints its result. `run` returns the problems as text, "" if there are none. */
export async function runCheck(name, run) {
  const started = performance.now();
  const complaint = await run();
  const ok = complaint === "";
  const time = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${ok ? "" : `${complaint.trimEnd()}\n`}${ok ? "✓" : "✗"} ${name} (${time} s)\n`);
  return { name, ok };
}

/** Everything except the tests: types, lint, format and the rules. */
export async function checkSources(root) {
  const color = process.stdout.isTTY === true;
  const compiler = [join("typescript", "bin", "tsc"), "--noEmit", "--pretty", String(color)];
  // A page has other globals than a program.
  const ofWeb = [...compiler, "-p", join("src", "clients", "web")];
  const linter = [
    join("@biomejs", "biome", "bin", "biome"),
    "check",
    "--error-on-warnings",
    `--colors=${color ? "force" : "off"}`,
    ".",
  ];
  const results = await Promise.all([
    runCheck("types", () => runTool(root, compiler)),
    runCheck("types of the web client", () => runTool(root, ofWeb)),
    runCheck("lint and format", () => runTool(root, linter)),
  ]);
  return [...results, ...(await checkRules(root))];
}

/** The project's own rules: layers and wording. */
export async function checkRules(root) {
  const layers = await runCheck("layers", () => checkLayers(root).map(formatViolation).join("\n"));
  const wording = await runCheck("wording", () => checkWording(root).map(formatFinding).join("\n"));
  return [layers, wording];
}

function runTool(root, [script, ...args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "node_modules", script), ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const collect = (chunk) => {
      output += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      resolve(code === 0 ? "" : output || `exited with ${code ?? signal} and no output`);
    });
  });
}
