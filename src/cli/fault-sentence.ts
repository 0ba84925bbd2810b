/** Common failures of the machine, in a sentence that says what to do. */
export function faultSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall === "uv_cwd" || /\buv_cwd\b/.test(message)) {
    return "The working directory does not exist or cannot be read. Change to another one, or give one with --cwd.";
  }
  if (code === "EMFILE" || code === "ENFILE") {
    return "Too many files are open. Raise the limit ('ulimit -n 1024'), or close other programs.";
  }
  return message;
}
