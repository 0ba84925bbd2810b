/** Shows the change that a question is about on the full screen. */
import { type PermissionAnswer, shortQuestion } from "../../sdk/permission-choices.js";
import { proposedChange } from "../../sdk/shown/proposed-change.js";
import {
  type ReviewCounts,
  type ReviewFile,
  type ReviewResult,
  type ReviewStop,
  reviewDialog,
} from "../dialogs/review.js";
import type { Question } from "../state.js";
import type { CarrierOptions } from "./carrier.js";
import { reviewTools, withTexts } from "./review-files.js";

/** Receives the answer. */
export interface QuestionAnswers {
  answerFor(question: Question, answer: PermissionAnswer): void;
  askWhy(question: Question): void;
}

/** Without `n`: here it goes to the next change, and must not deny by mistake. */
const ANSWERS = [
  { keys: ["y", "1"], label: "allows all of it once" },
  { keys: ["x", "5"], label: "denies" },
  { keys: ["m"], label: "denies, and tells the model why" },
];

export async function reviewQuestion(
  question: Question,
  questions: QuestionAnswers,
  options: CarrierOptions,
): Promise<void> {
  const proposed = proposedChange(question.args);
  if (proposed.length === 0) return;
  const folder = await folderOf(question, options);
  const files = folder === undefined ? proposed : await withTexts(proposed, { ...options, folder });
  const isOpen = () => options.state().questions.some(({ call }) => call === question.call);
  const tools = await reviewTools(options);
  if (!isOpen()) return;
  const dialog = reviewDialog({
    title: shortQuestion(question) ?? `Allow ${question.tool}?`,
    files,
    unit: "hunk",
    end: endWords,
    answers: ANSWERS,
    ...tools,
  });
  options.open({ ...dialog, isOver: () => !isOpen() }, (result) => {
    if (result?.kind === "answer" && result.key === "m") questions.askWhy(question);
    else {
      const answer = answerOf(result, files);
      if (answer !== undefined) questions.answerFor(question, answer);
    }
  });
}

/** A subagent may work in another folder than the session. */
async function folderOf({ subagent }: Question, { client, state }: CarrierOptions): Promise<string | undefined> {
  if (subagent === undefined) return state().place?.cwd;
  const reply = await client.query("ListSessions", { subagents: true });
  return reply.ok ? reply.answer.sessions.find(({ id }) => id === subagent.session)?.cwd : undefined;
}

export function endWords({ accepted, declined, all }: ReviewCounts): string {
  if (accepted === all) return "allows it once";
  if (accepted > 0) return `denies, and tells the model that you want ${accepted} of ${all} changes`;
  return declined > 0 ? "denies" : "goes back";
}

/** A call is allowed or denied as a whole. If the user wants only some changes, the model gets their numbers and can make another call. */
export function answerOf(result: ReviewResult, files: readonly ReviewFile[]): PermissionAnswer | undefined {
  if (result === undefined) return undefined;
  if (result.kind === "answer") return { decision: result.key === "y" ? "allow_once" : "deny" };
  const { accepted, declined, undecided } = result;
  const left = [...declined, ...undecided];
  // Enter without any decision answers nothing.
  if (accepted.length === 0) return declined.length === 0 ? undefined : { decision: "deny" };
  if (left.length === 0) return { decision: "allow_once" };
  const message = `The user wants ${listed(accepted, files)}, and does not want ${listed(left, files)}. Nothing was changed. Make the call again with only the wanted changes.`;
  return { decision: "deny", message };
}

function listed(stops: readonly ReviewStop[], files: readonly ReviewFile[]): string {
  return stops
    .map(({ file, hunk }) => {
      const { path = "", hunks = [] } = files[file] ?? {};
      const of = files.length > 1 ? ` of ${path}` : "";
      return hunk === undefined ? `the change${of}` : `change ${hunk + 1}${of} (of ${hunks.length})`;
    })
    .join(", ");
}
