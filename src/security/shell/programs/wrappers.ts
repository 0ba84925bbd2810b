/** Programs that run another one given in their own arguments. */

export interface WrapperRules {
  /** Options without a value. */
  readonly flags?: string;
  readonly valued?: string;
  /** Holds what must precede the command, each matching. */
  readonly before?: readonly RegExp[];
  /** Adds nothing itself: what it runs may be read-only. */
  readonly quiet?: true;
  /** Options whose value is a text for a shell. */
  readonly code?: string;
  /** All its operands together are a text for a shell. */
  readonly codeOperands?: true;
}

const DURATION = /^[0-9]+(\.[0-9]+)?[smhd]?$/;
const SHELL: WrapperRules = { code: "-c -lc -ic -cl -xc -ec -euc -exc -lic" };

export const WRAPPERS: Readonly<Record<string, WrapperRules>> = {
  timeout: {
    flags: "-v --foreground --preserve-status --verbose",
    valued: "-k -s --kill-after --signal",
    before: [DURATION],
    quiet: true,
  },
  nice: { valued: "-n --adjustment", quiet: true },
  stdbuf: { valued: "-i -o -e --input --output --error", quiet: true },
  command: { quiet: true },
  env: { code: "-S --split-string" },
  sh: SHELL,
  bash: SHELL,
  dash: SHELL,
  zsh: SHELL,
  ksh: SHELL,
  fish: SHELL,
  su: { code: "-c --command" },
  runuser: { code: "-c --command" },
  script: { code: "-c --command" },
  flock: { code: "-c --command" },
  eval: { codeOperands: true },
  ssh: {},
  sudo: {},
  doas: {},
  builtin: {},
  exec: {},
  nohup: {},
  setsid: {},
  ionice: {},
  chrt: {},
  taskset: {},
  time: {},
  watch: { codeOperands: true },
  xargs: {},
  parallel: {},
  find: {},
  fd: {},
  busybox: {},
  toybox: {},
  chroot: {},
  unshare: {},
  nsenter: {},
  setpriv: {},
  bwrap: {},
  firejail: {},
  fakeroot: {},
  "systemd-run": {},
  caffeinate: {},
  strace: {},
  ltrace: {},
  gdb: {},
  valgrind: {},
  perf: {},
  unbuffer: {},
  rlwrap: {},
  "xvfb-run": {},
  "dbus-run-session": {},
  proxychains: {},
  torsocks: {},
  docker: {},
  podman: {},
  kubectl: {},
  npx: {},
  pnpx: {},
  bunx: {},
};
