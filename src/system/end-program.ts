/** Ends the program. Where plugins run, `process.exit` refuses (runtime/plugins/process-guard.ts), so Oxbow's own code uses this. */
const exit = process.exit.bind(process);

export function endProgram(code?: number): never {
  return exit(code);
}
