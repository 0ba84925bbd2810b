/** The mock model as a program, for `oxbow mock-model`. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { onAbort } from "../../base/abort-tree.js";
import { safeText } from "../../base/terminal-text.js";
import { UsageError } from "../../base/usage-error.js";
import type { Answered, RecordedRequest } from "./request-log.js";
import { parseScript, ScriptError } from "./script/parse.js";
import type { Script } from "./script/script.js";
import { type MockModel, startMockModel } from "./server.js";

export interface MockModelIo {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  /** Ends the server. */
  readonly signal: AbortSignal;
}

/** The flags of the command, as they were typed. */
export interface MockModelFlags {
  readonly script?: string | undefined;
  readonly port?: string | undefined;
  readonly key?: string | undefined;
  readonly record?: string | undefined;
}

interface Settings {
  readonly script: Script;
  readonly port: number;
  readonly key?: string;
  readonly record?: string;
}

/** Runs until the signal fires; resolves to the exit code. */
export async function runMockModelCommand(flags: MockModelFlags, io: MockModelIo): Promise<number> {
  let settings: Settings;
  try {
    settings = readSettings(flags);
  } catch (error) {
    io.stderr.write(`oxbow mock-model: ${safeText((error as Error).message)}\n`);
    if (error instanceof UsageError) io.stderr.write("Try 'oxbow mock-model --help'.\n");
    return 2;
  }
  let mock: MockModel;
  try {
    mock = await startMockModel({ ...settings, onRequest: reporter(settings.record, io) });
  } catch (error) {
    io.stderr.write(`oxbow mock-model: cannot listen on port ${settings.port}: ${(error as Error).message}\n`);
    return 1;
  }
  const { url } = mock;
  io.stdout.write(
    `mock model at ${url}  ANTHROPIC_BASE_URL=${url} OPENAI_BASE_URL=${url}/v1 GOOGLE_GEMINI_BASE_URL=${url} OLLAMA_HOST=${url}\n`,
  );
  await new Promise<void>((resolve) => onAbort(io.signal, resolve));
  await mock.close();
  const broken = mock.failures.filter((failure) => failure.kind === "expectation").length;
  if (broken > 0) io.stderr.write(`${broken} expectation${broken === 1 ? "" : "s"} of the script failed.\n`);
  return broken > 0 ? 1 : 0;
}

function readSettings({ script, port = "0", key, record }: MockModelFlags): Settings {
  if (script === undefined) throw new UsageError("--script FILE is missing.");
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port needs a number from 0 to 65535, not '${port}'.`);
  }
  if (record !== undefined) writeFileSync(record, "", { mode: 0o600 });
  return {
    script: readScript(script),
    port: Number(port),
    ...(key !== undefined && { key }),
    ...(record !== undefined && { record }),
  };
}

function readScript(file: string): Script {
  try {
    return parseScript(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof ScriptError) throw new Error(`${file}, ${error.message}`);
    throw new Error(`cannot read the script: ${(error as Error).message}`);
  }
}

function reporter(record: string | undefined, io: MockModelIo): (request: RecordedRequest) => void {
  return (request) => {
    const { ended: _, ...plain } = request;
    if (record !== undefined) appendFileSync(record, `${JSON.stringify(plain)}\n`);
    const { wire = "?", method, path, model, messages } = request;
    const about = messages > 0 ? ` ${model}, ${messages} message${messages === 1 ? "" : "s"}` : "";
    io.stderr.write(`${wire} ${method} ${path}${about}: ${summary(request.answered)}\n`);
  };
}

function summary(answered: Answered): string {
  switch (answered.by) {
    case "reply":
      return `reply ${answered.reply}${answered.line === undefined ? "" : ` (line ${answered.line})`}`;
    case "end-of-script":
      return "the script has ended";
    case "refusal":
      return `refused with ${answered.status}: ${answered.message}`;
    case "expectation":
      return answered.message;
    case "service":
      return String(answered.status);
  }
}
