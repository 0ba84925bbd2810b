/** `Run_Shell-Command` and `runShellCommand` are one name for a tool. */
export function plainToolName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
