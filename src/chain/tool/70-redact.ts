import { LateConsumer } from "../../base/late-consumer.js";
import { ownText } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { MARKER } from "../../security/redact/marker.js";
import type { CreateToolLink } from "../services.js";

/** Hides secrets in what a tool shows and returns, before it is shown or stored. */
export const create: CreateToolLink = () => async (call, context, next) => {
  const { set } = context.definition;
  if ((set === "edit" || set === "command") && MARKER.test(JSON.stringify(call.args))) return quotesMarker();
  // Loaded while the tool runs, so neither a start without tools nor a call waits for the patterns.
  const loading = load();
  const show = (shown: string) => {
    if (shown !== "") context.progress(shown);
  };
  const live = new LateConsumer({
    load: async () => new (await loading).RedactingStream(),
    consume: (redacting, piece: string) => show(redacting.push(piece)),
  });
  void live.ready();
  const progress = (piece: string) => live.push(piece);
  try {
    const outcome = await next(call, { ...context, progress });
    const { redact } = await loading;
    const content = outcome.content.map((block) =>
      block.type === "text" ? { ...block, text: redact(block.text) } : block,
    );
    const { details } = outcome;
    return details === undefined
      ? { ...outcome, content }
      : { ...outcome, content, details: redactObject(details, redact) };
  } catch (error) {
    // Its message becomes the result.
    const { redact } = await loading;
    if (error instanceof Error) error.message = redact(error.message);
    throw error;
  } finally {
    show((await live.ready()).end());
  }
};

async function load() {
  const { redact } = await import("../../security/redact/redact.js");
  const { RedactingStream } = await import("../../security/redact/redacting-stream.js");
  return { redact, RedactingStream };
}

type Redact = (text: string) => string;

function redactObject(value: JsonObject, redact: Redact): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redact)]));
}

function redactValue(value: JsonValue | undefined, redact: Redact): JsonValue | undefined {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, redact) ?? null);
  return isJsonObject(value) ? redactObject(value, redact) : value;
}

/** Writing a marker to a file would destroy the secret behind it. */
function quotesMarker() {
  const advice =
    "Not run: the arguments quote «redacted:…», which stands for a secret that was hidden from you. It cannot be matched " +
    "or written. Leave the lines that hold it as they are, and refer to the secret by the name of its variable or file.";
  return { status: "error" as const, content: [ownText(advice)] };
}
