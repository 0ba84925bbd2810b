/**
 * Programs that show facts about the machine, and parts of the shell itself.
 *
 * Not here, with any arguments:
 *
 * 1. Programs that a project can replace, even when they only print their version: cargo and rustc by rust-toolchain.toml, yarn by
 *    .yarnrc.yml, pnpm by package.json, dotnet by global.json, go by go.mod.
 * 2. Programs that read their configuration from the working directory and then write, run or connect as it says. npm writes its
 *    logs to the folder that the project's .npmrc names, also for `npm --version`; pip, composer, bundler, gradle and mvn have
 *    project files with the same power.
 * 3. Programs that reach other machines with the user's account: kubectl, gh, aws.
 */
import type { ProgramRules, ProgramTable } from "./rules.js";

const VERSION: ProgramRules = { flags: "--version -v -V", required: "--version -v -V", operands: "none" };
const LONG_VERSION: ProgramRules = { flags: "--version", required: "--version", operands: "none" };
const JAVA_VERSION: ProgramRules = { check: "java-version", unlike: true };
const PIP_VERSION: ProgramRules = { flags: "--version -V", required: "--version -V", operands: "none" };
const SHOWN: ProgramRules = { operands: "none", commands: { show: { operands: "text" }, list: { operands: "text" } } };
const UNITS: ProgramRules = {
  flags: "-a -l --all --full --no-pager --user --system --no-legend --plain",
  valued: "-t --type --state",
  operands: "text",
};
const NAMED_UNITS: ProgramRules = { flags: "-q --quiet --user --system", operands: "text", minimum: 1 };
const PACKAGE_QUERY: ProgramRules = { operands: "text", minimum: 1 };
const APT_LIST: ProgramRules = { flags: "-a --installed --upgradable --all-versions", operands: "text" };

export const SYSTEM_PROGRAMS: ProgramTable = {
  date: {
    flags: "-u -R --utc --universal --rfc-email --iso-8601",
    valued: "-d --date --rfc-3339",
    optional: "--iso-8601",
    operands: "text",
    maximum: 1,
    check: "date",
  },
  uname: { flags: "-a -s -n -r -v -m -p -i -o --all", operands: "none" },
  arch: { operands: "none" },
  nproc: { flags: "--all", operands: "none" },
  uptime: { flags: "-p -s --pretty --since", operands: "none" },
  free: { flags: "-b -k -m -g -h -t -w --bytes --kibi --mebi --gibi --human --total --wide", operands: "none" },
  hostname: { flags: "-s -I --short", operands: "none" },
  whoami: { operands: "none" },
  logname: { operands: "none" },
  tty: { flags: "-s", operands: "none" },
  groups: { operands: "none" },
  id: {
    flags: "-u -g -G -n -r --user --group --groups --name --real",
    required: "-u -g -G --user --group --groups",
    operands: "none",
  },
  locale: { flags: "-a -m", operands: "none" },
  getconf: { operands: "text", minimum: 1, maximum: 1 },
  lscpu: { operands: "none" },
  sw_vers: { operands: "none" },
  cal: { operands: "text", maximum: 2 },
  sleep: { operands: "checked", minimum: 1, maximum: 1, check: "sleep" },
  ps: { check: "ps", unlike: true },
  which: { flags: "-a -s", operands: "text", minimum: 1 },
  whereis: { flags: "-b -m -s", operands: "text", minimum: 1 },
  type: { flags: "-a -t -p -P -f", operands: "text", minimum: 1 },
  command: { flags: "-v -V", required: "-v -V", operands: "text", minimum: 1 },
  test: { check: "test", unlike: true },
  "[": { check: "test", unlike: true },
  node: VERSION,
  python: { flags: "--version -V", required: "--version -V", operands: "none" },
  python3: { flags: "--version -V", required: "--version -V", operands: "none" },
  gcc: LONG_VERSION,
  "g++": LONG_VERSION,
  cc: LONG_VERSION,
  clang: LONG_VERSION,
  cmake: LONG_VERSION,
  bash: LONG_VERSION,
  ruby: LONG_VERSION,
  php: LONG_VERSION,
  bun: LONG_VERSION,
  deno: LONG_VERSION,
  uv: LONG_VERSION,
  tmux: { flags: "-V", required: "-V", operands: "none" },
  java: JAVA_VERSION,
  javac: JAVA_VERSION,
  openssl: { minimum: 1, operands: "none", commands: { version: { flags: "-a -v", operands: "none" } } },
  pip: PIP_VERSION,
  pip3: PIP_VERSION,
  printenv: { operands: "checked", minimum: 1, check: "printenv" },
  pgrep: {
    flags: "-a -c -f -i -l -n -o -x --list-name --list-full --count --full --exact",
    operands: "text",
    minimum: 1,
    maximum: 1,
  },
  top: { flags: "-b -c -H -i", valued: "-n -d -o -p -u", required: "-b", operands: "none" },
  vmstat: { flags: "-a -d -s -w", operands: "text", maximum: 2 },
  dmesg: { flags: "-k -t -T -u -x", operands: "none" },
  lsblk: { flags: "-a -b -d -f -J -l -m -n -p -S -t", valued: "-o", operands: "none" },
  lsmod: { operands: "none" },
  lspci: { flags: "-k -n -t -v", operands: "none" },
  lsusb: { flags: "-t -v", operands: "none" },
  lsof: { check: "lsof", unlike: true },
  ss: { flags: "-4 -6 -a -e -H -i -l -m -n -o -p -s -t -u -x", operands: "none" },
  netstat: { flags: "-4 -6 -a -e -i -l -n -r -s -t -u", operands: "none" },
  ifconfig: { flags: "-a", operands: "none" },
  ip: {
    ...{ minimum: 1, operands: "none" },
    commands: { a: SHOWN, addr: SHOWN, address: SHOWN, r: SHOWN, route: SHOWN, link: SHOWN, neigh: SHOWN },
  },
  who: { flags: "-a -b -H -q", operands: "none" },
  users: { operands: "none" },
  umask: { flags: "-p -S", operands: "none" },
  ulimit: { flags: "-a -H -S", required: "-a", operands: "none" },
  systemctl: {
    ...{ minimum: 1, operands: "none" },
    commands: {
      status: UNITS,
      "is-active": NAMED_UNITS,
      "is-enabled": NAMED_UNITS,
      "is-failed": NAMED_UNITS,
      "list-units": UNITS,
      "list-unit-files": UNITS,
      "list-timers": UNITS,
    },
  },
  dpkg: {
    flags: "-l -L -s -S --list --listfiles --status --search --version",
    required: "-l -L -s -S --list --listfiles --status --search --version",
    operands: "text",
  },
  "apt-cache": {
    ...{ minimum: 1, operands: "none" },
    commands: { policy: { operands: "text" }, search: PACKAGE_QUERY, show: PACKAGE_QUERY, depends: PACKAGE_QUERY },
  },
  apt: {
    minimum: 1,
    operands: "none",
    commands: { list: APT_LIST, show: PACKAGE_QUERY, policy: { operands: "text" } },
  },
  rpm: {
    flags: "-q -a -c -d -i -l -R --query --all --info --list",
    required: "-q --query",
    operands: "text",
  },
  brew: { ...LONG_VERSION, commands: { list: { flags: "-1 --versions --formula --cask", operands: "text" } } },
  docker: {
    ...{ flags: "--version -v", required: "--version -v", operands: "none" },
    commands: {
      ps: {
        flags: "-a -l -q -s --all --latest --no-trunc --quiet --size",
        valued: "-f -n --filter --format --last",
        operands: "none",
      },
      images: {
        flags: "-a -q --all --digests --no-trunc --quiet",
        valued: "-f --filter --format",
        operands: "text",
        maximum: 1,
      },
      logs: {
        flags: "-t --details --timestamps",
        valued: "-n --since --tail --until",
        operands: "text",
        minimum: 1,
        maximum: 1,
      },
      version: { operands: "none" },
    },
  },
};
