/** Programs that tell about the machine, and parts of the shell itself. */
import type { ProgramRules, ProgramTable } from "./rules.js";

const VERSION: ProgramRules = { flags: "--version -v -V", required: "--version -v -V", operands: "none" };

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
  hostname: { flags: "-s --short", operands: "none" },
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
  sleep: { operands: "text", minimum: 1, maximum: 1 },
  ps: { check: "ps", unlike: true },
  which: { flags: "-a -s", operands: "text", minimum: 1 },
  whereis: { flags: "-b -m -s", operands: "text", minimum: 1 },
  type: { flags: "-a -t -p -P -f", operands: "text", minimum: 1 },
  command: { flags: "-v -V", required: "-v -V", operands: "text", minimum: 1 },
  test: { check: "test", unlike: true },
  "[": { check: "test", unlike: true },
  node: VERSION,
  npm: {
    ...VERSION,
    commands: {
      list: { flags: "-a --all --json --long --parseable --prod --dev", valued: "--depth", operands: "text" },
      ls: { flags: "-a --all --json --long --parseable --prod --dev", valued: "--depth", operands: "text" },
      outdated: { flags: "--json --long --parseable --all", operands: "none" },
    },
  },
  python: { flags: "--version -V", required: "--version -V", operands: "none" },
  python3: { flags: "--version -V", required: "--version -V", operands: "none" },
  gcc: { flags: "--version", required: "--version", operands: "none" },
  clang: { flags: "--version", required: "--version", operands: "none" },
  bash: { flags: "--version", required: "--version", operands: "none" },
  ruby: { flags: "--version", required: "--version", operands: "none" },
};
