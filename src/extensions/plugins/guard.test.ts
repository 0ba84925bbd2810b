import { describe, expect, it } from "vitest";
import { systemClock } from "../../base/clock.js";
import type {
  ModelEvent,
  ModelRequest,
  ModelStream,
  RequestContext,
  ToolCall,
  ToolLinkContext,
  ToolOutcome,
} from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { PluginGuard } from "./guard.js";

const REQUEST: ModelRequest = { model: "m", system: "", messages: [], tools: [] };
const CALL = { call: "call_1", tool: "read", args: {} } as unknown as ToolCall;
const OK: ToolOutcome = { status: "ok", content: [text("inner")] };

function guarded() {
  const messages: string[] = [];
  const guard = new PluginGuard({ plugin: "p", clock: systemClock, report: (message) => messages.push(message) });
  return { guard, messages };
}

function batch(words: string): readonly ModelEvent[] {
  return [{ type: "text", text: words }];
}

async function* stream(...words: readonly string[]): AsyncGenerator<readonly ModelEvent[]> {
  for (const each of words) yield batch(each);
}

async function wordsOf(events: ModelStream): Promise<string> {
  const words: string[] = [];
  for await (const each of events)
    for (const event of each) words.push(event.type === "text" ? event.text : event.type);
  return words.join(" ");
}

const requestContext = (signal = new AbortController().signal) => ({ signal }) as unknown as RequestContext;
const toolContext = (signal = new AbortController().signal) => ({ signal }) as unknown as ToolLinkContext;

describe("a request link of a plugin that fails", () => {
  it("in the middle of the stream loses and repeats nothing", async () => {
    const { guard, messages } = guarded();
    const link = guard.requestLink({
      name: "40-a",
      run: async (request, _context, next) => {
        const inner = await next(request);
        return (async function* () {
          let count = 0;
          for await (const each of inner) {
            if (++count === 3) throw new Error("third");
            yield each;
          }
        })();
      },
    });
    const output = await link.run(REQUEST, requestContext(), async () => stream("a", "b", "c", "d"));
    expect(await wordsOf(output)).toBe("a b c d");
    expect(messages).toEqual(["The plugin p is switched off: 40-a failed: third"]);
    expect(await wordsOf(await link.run(REQUEST, requestContext(), async () => stream("x")))).toBe("x");
  });

  it("in its own answer is replaced by the model's answer, or the request is made again", async () => {
    const own = (...words: readonly string[]) =>
      guarded().guard.requestLink({
        name: "40-a",
        run: async () =>
          (async function* () {
            yield* stream(...words);
            throw new Error("own");
          })(),
      });
    const next = async () => stream("model");
    expect(await wordsOf(await own().run(REQUEST, requestContext(), next))).toBe("model");
    expect(await wordsOf(await own("half").run(REQUEST, requestContext(), next))).toBe("half failure");
  });

  it("with an invalid request, or a result that is not a stream, is left out", async () => {
    for (const run of [
      async (_request: ModelRequest, _context: RequestContext, next: (input: ModelRequest) => Promise<ModelStream>) =>
        next({ model: "m" } as ModelRequest),
      async () => "text" as unknown as ModelStream,
    ]) {
      const { guard, messages } = guarded();
      const link = guard.requestLink({ name: "40-a", run });
      expect(await wordsOf(await link.run(REQUEST, requestContext(), async () => stream("model")))).toBe("model");
      expect(messages).toHaveLength(1);
    }
  });

  it("because the model failed is not at fault", async () => {
    const { guard, messages } = guarded();
    const link = guard.requestLink({ name: "40-a", run: (request, _context, next) => next(request) });
    const broken = async (): Promise<ModelStream> => {
      throw new Error("model");
    };
    await expect(link.run(REQUEST, requestContext(), broken)).rejects.toThrow("model");
    const breaks = async () =>
      (async function* () {
        yield batch("a");
        throw new Error("connection");
      })();
    await expect(link.run(REQUEST, requestContext(), breaks).then(wordsOf)).rejects.toThrow("connection");
    expect(messages).toEqual([]);
  });
});

describe("a tool link of a plugin", () => {
  it("that gives no outcome or changes the call to nonsense is left out, and the tool runs once", async () => {
    for (const run of [
      async (call: ToolCall, _context: ToolLinkContext, next: (input: ToolCall) => Promise<ToolOutcome>) => {
        await next(call);
        return "text" as unknown as ToolOutcome;
      },
      async (call: ToolCall, _context: ToolLinkContext, next: (input: ToolCall) => Promise<ToolOutcome>) =>
        next({ ...call, args: "text" as never }),
    ]) {
      const { guard, messages } = guarded();
      let runs = 0;
      const inner = async () => {
        runs++;
        return OK;
      };
      expect(await guard.toolLink({ name: "40-a", run }).run(CALL, toolContext(), inner)).toEqual(OK);
      expect([runs, messages.length]).toEqual([1, 1]);
    }
  });

  it("that never ends does not hold up a cancelled turn, and the tool's own end counts", async () => {
    const { guard, messages } = guarded();
    const abort = new AbortController();
    const link = guard.toolLink({
      name: "40-a",
      run: async (call, _context, next) => {
        await next(call);
        return new Promise<ToolOutcome>(() => {});
      },
    });
    const cancelled: ToolOutcome = { status: "cancelled", content: [text("stopped at line 3")] };
    const tool = () =>
      new Promise<ToolOutcome>((resolve) => abort.signal.addEventListener("abort", () => resolve(cancelled)));
    const running = link.run(CALL, toolContext(abort.signal), tool);
    abort.abort();
    expect(await running).toEqual(cancelled);
    expect(messages).toEqual([]);
  });
});
