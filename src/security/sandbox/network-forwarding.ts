/**
 * How a program in a sandbox without a network reaches the proxy outside: the proxy listens on a socket in a folder that is
 * mounted into the sandbox, and a forwarder inside listens on a port, because programs know proxies by port only.
 */
import { shellWord } from "../../base/shell-word.js";

export interface NetworkForwarding {
  /** The folder that holds the proxy's socket and nothing else. */
  readonly folder: string;
  /** Where it is found inside. */
  readonly inside: string;
  readonly port: number;
  readonly forwarder: Forwarder;
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

/**
 * Lines for the shell that starts the command: they start the forwarder and wait for its port. The kernel's table of sockets shows
 * the port without another process.
 */
export function forwarderLines(forwarding: NetworkForwarding): string[] {
  const { kind, program } = forwarding.forwarder;
  const socket = `${forwarding.inside}/${SOCKET_NAME}`;
  const words =
    kind === "socat"
      ? [
          "-t",
          "60",
          `TCP4-LISTEN:${forwarding.port},bind=127.0.0.1,reuseaddr,fork,backlog=128`,
          `UNIX-CONNECT:${socket}`,
        ]
      : ["-e", NODE_FORWARDER, String(forwarding.port), socket];
  return [
    `${[program, ...words].map(shellWord).join(" ")} </dev/null >/dev/null 2>&1 &`,
    "is_open() {",
    "while read -r _ address _ state _; do",
    `case $address/$state in *:${hexadecimal(forwarding.port)}/0A) return 0 ;; esac`,
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
