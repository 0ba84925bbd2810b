/** The prompt of a run: arguments and standard input, checked before anything is sent. */
import { fstatSync } from "node:fs";
import { formatBytes } from "../base/byte-size.js";
import { groupDigits } from "../base/group-digits.js";
import { isBinary } from "../base/text-or-binary.js";
import { UsageError } from "../base/usage-error.js";
import type { Terminal } from "../clients/headless/terminal.js";
import type { Model } from "../engine/ports.js";
import type { ParsedFlags } from "../feature/flags.js";
import type { LoadedSettings } from "../runtime/settings/settings.js";
import { inputIsConnected, readBytes } from "./terminal-io.js";

/** More than any model reads. Reading stops there, because an input may never end. */
const MOST_INPUT_BYTES = 32 * 1000 * 1000;
/** A shorter prompt fits every model, so nothing is looked up. */
const ALWAYS_FITS_CHARACTERS = 8_000;

/** Undefined to open a conversation. */
export async function wholePrompt(flags: ParsedFlags, terminal: Terminal): Promise<string | undefined> {
  const words = flags.words
    .filter((word) => word !== "-")
    .join(" ")
    .trim();
  const waitForInput = flags.words.includes("-");
  if (words === "" && !waitForInput && (process.stdin.isTTY || flags.has("plain"))) return undefined;
  if (!waitForInput && !inputIsConnected()) {
    if (words === "") throw noPrompt(flags);
    return words;
  }
  const input = await inputText({ patient: words === "" || waitForInput });
  if (input === undefined)
    terminal.err.write("oxbow: standard input sent nothing; continuing without it ('-' waits for it).\n");
  const parts = [words, input?.trim() ?? ""].filter((part) => part !== "");
  if (parts.length === 0) throw noPrompt(flags);
  return parts.join("\n\n");
}

/** Says how a prompt is given to what was asked for. */
function noPrompt(flags: ParsedFlags): UsageError {
  const session = flags.text("resume");
  const resumed = session === undefined ? "" : `--resume ${session} `;
  const command = flags.has("continue") ? "oxbow --continue" : `oxbow ${resumed}`.trim();
  return new UsageError(`The prompt is empty. Without a terminal, give one: ${command} "PROMPT", or pipe one in.`);
}

/** Refuses a prompt that is too long for the model before it costs anything. */
export async function refuseTooLong(
  prompt: string | undefined,
  model: Model,
  { settings, roots }: Pick<LoadedSettings, "settings" | "roots">,
): Promise<void> {
  if (prompt === undefined || prompt.length < ALWAYS_FITS_CHARACTERS) return;
  const reads = await windowOf(model, { settings, roots });
  if (reads === undefined) return;
  const { estimateTokens } = await import("../base/estimate-tokens.js");
  const tokens = estimateTokens(prompt);
  if (tokens <= reads) return;
  const size = `about ${groupDigits(tokens)} tokens (${formatBytes(Buffer.byteLength(prompt))})`;
  throw new UsageError(
    `The prompt is longer than ${model.provider}:${model.model} can read: ${size}, and it reads ${groupDigits(reads)} tokens. Nothing was sent. Give a part of it, name the file so that the model reads what it needs, or choose another model (--model).`,
  );
}

/** Of a route, the largest window of its models; undefined where one is not known. */
async function windowOf(model: Model, place: Pick<LoadedSettings, "settings" | "roots">): Promise<number | undefined> {
  if (model.candidates !== undefined) {
    const windows = await Promise.all((await model.candidates()).map((candidate) => windowOf(candidate, place)));
    const known = windows.filter((window) => window !== undefined);
    return known.length < windows.length ? undefined : Math.max(...known);
  }
  const known = model.contextTokens ?? (await model.contextLimit?.().catch(() => undefined));
  if (known !== undefined) return known;
  const [{ openCatalogue }, { readingLimit }] = await Promise.all([
    import("../providers/catalogue/open-catalogue.js"),
    import("../providers/catalogue/facts.js"),
  ]);
  const facts = await openCatalogue(place).facts(model);
  return facts.assumed ? undefined : readingLimit(facts);
}

async function inputText({ patient }: { readonly patient: boolean }): Promise<string | undefined> {
  const input = await readBytes({ patient, most: MOST_INPUT_BYTES });
  if (input === undefined) return undefined;
  const { bytes, ended } = input;
  const size = ended ? formatBytes(bytes.length) : (sizeOfFile() ?? `more than ${formatBytes(bytes.length)}`);
  if (isBinary(bytes)) {
    throw new UsageError(
      `Standard input is binary (${size}): nothing was sent. --image FILE shows a picture to the model.`,
    );
  }
  if (!ended) {
    throw new UsageError(
      `Standard input is longer than any model can read (${size}, the limit is ${formatBytes(MOST_INPUT_BYTES)}): nothing was sent.`,
    );
  }
  return bytes.toString("utf8");
}

function sizeOfFile(): string | undefined {
  const status = fstatSync(0);
  return status.isFile() ? formatBytes(status.size) : undefined;
}
