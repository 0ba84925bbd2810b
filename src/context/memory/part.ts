/**
 * The memory of a session. Here is what a session without memories needs: one look at the disk, and the words that ask to remember
 * something. The rest loads when there are memories, or with the first use.
 *
 * 1. Memories go along with an input, never into the system prompt: the bytes before the newest message stay as they are.
 * 2. The model gets the tool when there are memories, when an input asks to remember or forget, or when the user wants it (`/memory on`).
 *    Then it stays for the session.
 * 3. A subagent gets the memories that fit its prompt, and no tool: only the session of the user writes memories.
 */
import { existsSync } from "node:fs";
import { schemaProblems } from "../../base/json-schema.js";
import { originOf } from "../../base/message-origin.js";
import { shellWord } from "../../base/shell-word.js";
import type { Tool } from "../../engine/ports.js";
import type { NamedHook, Turn } from "../../engine/turn.js";
import type { SessionPart } from "../../feature/part.js";
import { type InputContent, plainText } from "../../protocol/content.js";
import { asksToRemember } from "./asks-to-remember.js";
import { MEMORY_TOOL } from "./memory-tool-definition.js";
import type { MemoryContext, SessionMemory } from "./session-memory.js";
import { memoryRoot } from "./settings.js";

export async function memory(context: MemoryContext): Promise<SessionPart> {
  const { settings, roots, extensions, parent } = context;
  const { memory: use, memory_offer } = settings;
  let live: SessionMemory | undefined;
  let opened: Promise<SessionMemory> | undefined;
  const open = () => {
    opened ??= import("./session-memory.js").then(async ({ SessionMemory }) => {
      live = await SessionMemory.open(context);
      return live;
    });
    return opened;
  };
  const commands = async () => (await import("./commands.js")).sessionCommands(open);
  const mayBeThere = () => existsSync(memoryRoot(roots)) || extensions.of("memory").length > 0;
  const noticeFor = async (input: readonly InputContent[]) =>
    mayBeThere() ? (await open()).noticeFor(input) : undefined;
  const compactions = [{ after: async () => live?.forgetWritten() }];
  if (parent !== undefined)
    return use.value === "off" || parent.isOfHook
      ? { name: "memory" }
      : { name: "memory", inputNotice: noticeFor, compactions };
  if (use.value === "off") return { name: "memory", commands };
  let isOffered = use.value === "on" || (mayBeThere() && (await (await open()).hasEntries()));
  const tool: Tool = {
    ...MEMORY_TOOL,
    check: async (args) => {
      const problems = schemaProblems(MEMORY_TOOL.inputSchema, args);
      return problems.length > 0 ? problems : (await open()).problems(args);
    },
    run: async (args) => (await open()).run(args),
  };
  return {
    name: "memory",
    tools: () => {
      isOffered ||= live?.isWanted === true;
      return isOffered ? [tool] : [];
    },
    inputNotice: async (input) => {
      isOffered ||= asksToRemember(plainText(input));
      return noticeFor(input);
    },
    subscribers: [
      {
        name: "60-memory",
        // Input that comes during a turn gets no notice, but may ask to remember something, too.
        run: (event) => {
          if (event.kind === "InputSteered") isOffered ||= asksToRemember(plainText(event.payload.input));
        },
      },
    ],
    hooks: { done: memory_offer.value === "off" ? [] : [offerHook(context)] },
    compactions,
    commands,
  };
}

/** After a turn in which the user said something that may hold for longer, and the model kept no note of it. */
function offerHook({ settings: { memory_offer }, person, bus, ...context }: MemoryContext): NamedHook {
  const isHeadless = () => !person.present() || context.isHeadless;
  const offered = new Set<string>();
  return {
    name: "65-memory-offer",
    run: async (turn) => {
      const isAnswered = (turn.outcome ?? turn.failure ?? turn.stopped ?? turn.cancelReason) === undefined;
      if (!isAnswered || (isHeadless() && memory_offer.value !== "always")) return undefined;
      const { lastingStatement } = await import("./lasting-statement.js");
      const sentence = lastingStatement(plainText(turn.input));
      if (sentence === undefined || offered.has(sentence) || offered.size >= MOST_OFFERS || keptNote(turn))
        return undefined;
      offered.add(sentence);
      const command = isHeadless() ? `oxbow memory add ${shellWord(sentence)}` : `/memory add ${sentence}`;
      bus.publish("Notice", { turn: turn.id, level: "warning", offer: true, message: `Worth remembering? ${command}` });
      return undefined;
    },
  };
}

/** More would be a nuisance. */
const MOST_OFFERS = 3;

function keptNote({ conversation, firstEvent }: Turn): boolean {
  const at = conversation.findLastIndex((message) => originOf(message) === firstEvent);
  return conversation
    .slice(Math.max(0, at))
    .some(({ content }) => content.some((block) => block.type === "tool_use" && block.tool === MEMORY_TOOL.name));
}
