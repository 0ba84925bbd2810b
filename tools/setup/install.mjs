import { spawn } from "node:child_process";
import { basename } from "node:path";
import { say, ToolError } from "../entry.mjs";

// Development dependencies are wanted even where NODE_ENV=production or an `omit` setting says otherwise: they build.
const ARGUMENTS = [
  "ci",
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  "--prefer-offline",
  "--no-audit",
  "--no-fund",
  "--loglevel=error",
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
];

const ADVICE = [
  {
    pattern:
      /\b(EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT)\b/,
    text: "npm could not reach its registry. Connect to the network (behind a proxy: `npm config set https-proxy URL`) and run the same command again.",
  },
  {
    pattern: /\bEUSAGE\b/,
    text: "package-lock.json does not match package.json. Run `npm install` and keep the lock file it writes.",
  },
  { pattern: /\bENOSPC\b/, text: "the disk is full." },
  {
    pattern: /\b(EACCES|EPERM|EROFS)\b/,
    text: "npm may not write where it has to (its lines above name the place). Correct the owner of this folder and of npm's cache.",
  },
];

/** Makes node_modules equal to the lock file. */
export async function install(root) {
  say("installing what the build needs with `npm ci` (once; it takes the network and usually less than a minute)");
  const started = performance.now();
  const { code, output } = await runNpm(root);
  if (code !== 0) {
    const advice = ADVICE.find(({ pattern }) => pattern.test(output))?.text ?? "the lines above are npm's own.";
    throw new ToolError(`\`npm ci\` failed (exit ${code}): ${advice}`);
  }
  say(`installed in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function runNpm(root) {
  const { command, leading, shell } = findNpm();
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...leading, ...ARGUMENTS], { cwd: root, shell, stdio: ["ignore", "pipe", "pipe"] });
    const stopChild = () => child.kill();
    process.once("exit", stopChild);
    const ticker = showSeconds();
    let output = "";
    const pass = (chunk) => {
      output = (output + chunk).slice(-20_000);
      process.stderr.write(chunk);
    };
    child.stdout.setEncoding("utf8").on("data", pass);
    child.stderr.setEncoding("utf8").on("data", pass);
    child.on("error", (error) => {
      ticker.stop();
      process.off("exit", stopChild);
      reject(error.code === "ENOENT" ? new ToolError(NO_NPM) : error);
    });
    child.on("close", (code, signal) => {
      ticker.stop();
      process.off("exit", stopChild);
      resolve({ code: code ?? signal, output });
    });
  });
}

const NO_NPM =
  "npm was not found on PATH, and the dependencies of the build are not installed. " +
  "npm comes with Node.js (nodejs.org; on Debian it is the package `npm`): install it and run the same command again.";

/** The npm that called us if there is one: it need not be on PATH. */
function findNpm() {
  const caller = process.env.npm_execpath;
  if (caller && basename(caller) === "npm-cli.js")
    return { command: process.execPath, leading: [caller], shell: false };
  return { command: "npm", leading: [], shell: process.platform === "win32" };
}

function showSeconds() {
  if (!process.stderr.isTTY) return { stop() {} };
  const started = performance.now();
  const timer = setInterval(() => {
    process.stderr.write(`\roxbow: ${Math.round((performance.now() - started) / 1000)} s\u001b[K`);
  }, 1000);
  return {
    stop() {
      clearInterval(timer);
      process.stderr.write("\r\u001b[K");
    },
  };
}
