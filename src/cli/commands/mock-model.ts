import { runMockModelCommand } from "../../testkit/mock-model/cli.js";

export async function run(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return runMockModelCommand([...args], { stdout: process.stdout, stderr: process.stderr, signal: stop.signal });
}
