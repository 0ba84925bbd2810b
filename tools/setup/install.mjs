/**
 * Makes node_modules equal to the lock file.
 *
 * 1. npm works in a folder of its own inside node_modules. Only what it has finished moves to its place, and npm's record of it last.
 *    An npm that outlives this process changes nothing that a later set-up uses, and without the record node_modules counts as absent.
 * 2. npm and its children are a process group, which ends with this process.
 */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { say, ToolError } from "../entry.mjs";
import { RECORD } from "./freshness.mjs";

const STAGE = ".oxbow-install-";

// Development dependencies are wanted even where NODE_ENV=production or an `omit` setting says otherwise: they build.
const ARGUMENTS = [
  "ci",
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  // `npm install --global .` hands its settings to the script that prepares the clone.
  "--global=false",
  "--location=project",
  "--prefer-offline",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=warn",
];

// With npm's own limits, a registry that accepts connections and stays silent holds the set-up up for half an hour.
const LIMITS = {
  npm_config_fetch_timeout: "20000",
  npm_config_fetch_retries: "1",
  npm_config_fetch_retry_mintimeout: "1000",
  npm_config_maxsockets: "50",
};

/** npm only warns of files that it could not write, and ends with exit code 0. */
const UNWRITTEN = /\bTAR_ENTRY_ERROR\b/;

const ADVICE = [
  {
    pattern:
      /\b(EAI_AGAIN|ENOTFOUND|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|FETCH_ERROR)\b/,
    text: "npm could not reach its registry. Connect to the network (behind a proxy: `npm config set https-proxy URL`) and run the same command again.",
  },
  {
    pattern: /\bEUSAGE\b/,
    text: "package-lock.json does not match package.json. Run `npm install` and keep the lock file it writes.",
  },
  { pattern: /\b(ENOSPC|EDQUOT)\b/, text: "the disk is full. Free some space and run the same command again." },
  {
    pattern: /\b(EACCES|EPERM|EROFS)\b/,
    text: "npm may not write where it has to (its lines above name the place). Correct the owner of this folder and of npm's cache.",
  },
];

export async function install(root) {
  say("installing what the build needs with `npm ci` (once; it takes the network and usually less than a minute)");
  const started = performance.now();
  const stage = makeStage(root);
  try {
    const { code, output } = await runNpm(stage);
    if (code !== 0 || UNWRITTEN.test(output)) {
      const advice = ADVICE.find(({ pattern }) => pattern.test(output))?.text ?? "the lines above are npm's own.";
      const what = code === 0 ? "left files out" : `failed (exit ${code})`;
      throw new ToolError(`\`npm ci\` ${what}: ${advice}`);
    }
    moveIntoPlace(stage);
  } finally {
    remove(stage);
  }
  say(`installed in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

function makeStage(root) {
  const stage = join(root, "node_modules", `${STAGE}${process.pid}`);
  remove(stage);
  mkdirSync(stage, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"].filter((each) => existsSync(join(root, each))))
    copyFileSync(join(root, name), join(stage, name));
  return stage;
}

function moveIntoPlace(stage) {
  const [place, made] = [join(stage, ".."), join(stage, "node_modules")];
  rmSync(join(place, RECORD), { force: true });
  for (const name of readdirSync(place)) if (name !== basename(stage)) remove(join(place, name));
  const names = existsSync(made) ? readdirSync(made) : [];
  for (const name of names.filter((each) => each !== RECORD)) renameSync(join(made, name), join(place, name));
  if (names.includes(RECORD)) renameSync(join(made, RECORD), join(place, RECORD));
}

/** Another npm may still write into the stage of an earlier set-up; a later install removes the rest. */
function remove(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (error.code !== "ENOTEMPTY" || !basename(path).startsWith(STAGE)) throw error;
  }
}

function runNpm(stage) {
  const { command, leading, shell } = findNpm();
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...leading, ...ARGUMENTS, `--prefix=${stage}`], {
      cwd: stage,
      env: { ...LIMITS, ...process.env },
      shell,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stopChild = () => endGroup(child);
    // Before the lock is released.
    process.prependOnceListener("exit", stopChild);
    const ticker = showSeconds();
    let output = "";
    const pass = (stream) => {
      let line = "";
      stream.setEncoding("utf8").on("data", (chunk) => {
        const lines = (line + chunk).split("\n");
        line = lines.pop();
        for (const each of lines) {
          output = `${output}${each}\n`.slice(-20_000);
          if (!each.startsWith("npm warn")) process.stderr.write(`${each}\n`);
        }
      });
    };
    pass(child.stdout);
    pass(child.stderr);
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

function endGroup(child) {
  try {
    if (process.platform === "win32") child.kill();
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended, or it never started.
  }
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
