/**
 * Lets a program in a sandbox without a network reach the proxy outside: the proxy listens on a socket, and a forwarder in the network
 * of the sandbox listens on a port, because programs know proxies by port only.
 *
 * The forwarder needs Unix sockets, and the command must not have them. So a first bubblewrap makes the network, in which the forwarder
 * and the real sandbox start (`around`). Where one bubblewrap cannot start another, the forwarder runs in the sandbox
 * (`within`), whose filter then allows Unix sockets.
 */
import { shellWord } from "../../base/shell-word.js";

export interface NetworkForwarding {
  /** The folder that holds the proxy's socket and nothing else. */
  readonly folder: string;
  /** The place where it is found inside. */
  readonly inside: string;
  readonly port: number;
  readonly forwarder: Forwarder;
  readonly place: "around" | "within";
}

export interface Forwarder {
  readonly kind: "socat" | "node";
  readonly program: string;
}

export const SOCKET_NAME = "proxy.sock";

const NODE_FORWARDER = `
const net = require("node:net");
net.createServer((near) => {
  const far = net.connect(process.argv[2]);
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.pipe(far).pipe(near);
}).listen(Number(process.argv[1]), "127.0.0.1");
`;

/** The options of the bubblewrap that only makes a network. It dies with Oxbow, and everything in it with its first process. */
export const AROUND_OPTIONS: readonly string[] =
  "--unshare-user --unshare-net --unshare-pid --as-pid-1 --die-with-parent --dev-bind / /".split(" ");

/** The line that starts the forwarder. Variables of the command must not change what it does. */
export function forwarderStart({ forwarder, folder, inside, port, place }: NetworkForwarding): string {
  const { kind, program } = forwarder;
  const socket = `${place === "around" ? folder : inside}/${SOCKET_NAME}`;
  const words =
    kind === "socat"
      ? ["-t", "60", `TCP4-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork,backlog=128`, `UNIX-CONNECT:${socket}`]
      : ["-e", NODE_FORWARDER, String(port), socket];
  return `/usr/bin/env -i ${[program, ...words].map(shellWord).join(" ")} </dev/null >/dev/null 2>&1 &`;
}

/** Lines that wait for the port. The kernel's table of sockets shows it without another process. */
export function forwarderWait({ port }: NetworkForwarding): string[] {
  return [
    "is_open() {",
    "while read -r _ address _ state _; do",
    `case $address/$state in *:${hexadecimal(port)}/0A) return 0 ;; esac`,
    "done </proc/net/tcp",
    "return 1",
    "}",
    "looks=0",
    `until is_open || [ $looks -gt ${MAX_LOOKS} ]; do looks=$((looks + 1)); done`,
  ];
}

/** A few seconds; a forwarder that has not started by then has failed. */
const MAX_LOOKS = 100_000;

function hexadecimal(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** Both spellings: some programs know only one of them. */
export function proxyVariables(port: number): Record<string, string> {
  const address = `http://127.0.0.1:${port}`;
  const variables: Record<string, string> = { NODE_USE_ENV_PROXY: "1" };
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
    variables[name] = address;
    variables[name.toLowerCase()] = address;
  }
  variables.NO_PROXY = variables.no_proxy = "localhost,127.0.0.1,::1";
  return variables;
}
