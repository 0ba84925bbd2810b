import { UsageError } from "../../base/usage-error.js";
import { OUTPUT_FORMATS, type OutputFormat } from "../../clients/headless/one-shot.js";
import type { ParsedFlags } from "../../feature/flags.js";

export function outputFormat(flags: ParsedFlags): OutputFormat {
  const asked = flags.text("output-format");
  if (asked !== undefined && !(OUTPUT_FORMATS as readonly string[]).includes(asked)) {
    throw new UsageError(`--output-format: expected ${OUTPUT_FORMATS.join(", ")}, got "${asked}".`);
  }
  const format = (asked ?? (flags.has("stream-events") ? "stream-json" : "text")) as OutputFormat;
  if (flags.has("stream-events") && format !== "stream-json") {
    throw new UsageError("--stream-events and --output-format contradict each other: use one of them.");
  }
  if (flags.has("json-events") && format === "stream-json") {
    throw new UsageError(
      "--json-events prints the events after the answer, stream-json prints them live: use one of them.",
    );
  }
  return format;
}
