/**
 * The open questions, one at a time, beside the draft.
 *
 * 1. A question that appears while the user types takes no key until the user pauses, so that no letter for the draft answers it.
 * 2. It has the focus if the draft is empty. Tab switches between question and draft, and both stay on the screen.
 */
import type { Clock } from "../../../base/clock.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { CallId } from "../../../protocol/ids.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";
import { type PermissionAnswer, type PermissionState, permissionDialog } from "./permission.js";

type Question = EventPayloads["PermissionRequested"];

export interface QuestionPromptOptions {
  readonly clock: Clock;
  readonly answer: (question: Question, answer: PermissionAnswer) => void;
  /** Shows the change of the call on the full screen. */
  readonly review: (question: Question) => void;
}

interface Place {
  readonly now: number;
  readonly draftIsEmpty: boolean;
}

const PAUSE_MS = 500;

export class QuestionPrompt {
  readonly #options: QuestionPromptOptions;
  #open: { readonly question: Question; readonly dialog: Dialog<PermissionState, PermissionAnswer> } | undefined;
  #state: PermissionState = { scroll: 0 };
  /** Answered here; the engine has not confirmed it yet. */
  readonly #answered = new Set<CallId>();
  #focused = false;
  #lastKeyAt = Number.NEGATIVE_INFINITY;
  /** The user has paused since the question appeared. */
  #armed = false;

  constructor(options: QuestionPromptOptions) {
    this.#options = options;
  }

  get hasFocus(): boolean {
    return this.#open !== undefined && this.#focused;
  }

  show(questions: readonly Question[], { now, draftIsEmpty }: Place): void {
    const waiting = questions.filter(({ call }) => !this.#answered.has(call));
    const [next] = waiting;
    if (next === undefined) {
      this.#open = undefined;
      return;
    }
    if (next.call === this.#open?.question.call) return;
    const dialog = permissionDialog(next, { waiting: waiting.length - 1 });
    this.#open = { question: next, dialog };
    this.#state = dialog.first;
    this.#focused = draftIsEmpty;
    this.#armed = now - this.#lastKeyAt >= PAUSE_MS;
  }

  /** The draft was sent, so the next key is not for it. */
  onSent(): void {
    this.#lastKeyAt = Number.NEGATIVE_INFINITY;
  }

  /** False if the key is not for the question. */
  onKey(key: Key, { now }: Place): boolean {
    const pause = now - this.#lastKeyAt;
    this.#lastKeyAt = now;
    if (this.#open === undefined) return false;
    if (pause >= PAUSE_MS) this.#armed = true;
    if (key.id === "tab" && this.#state.message === undefined) {
      this.#focused = !this.#focused;
      return true;
    }
    if (!this.#focused || key.id === "ctrl+c") return false;
    // Ignored: the user typed it before reading the question.
    if (!this.#armed) return true;
    if (key.id === "v" && this.#state.message === undefined) this.#options.review(this.#open.question);
    else this.#take(this.#open.dialog.onKey(this.#state, key));
    return true;
  }

  /** Sends the answer of the review, unless the question was answered elsewhere meanwhile. */
  answerFor({ call }: Question, answer: PermissionAnswer): void {
    if (this.#open?.question.call === call) this.#take({ done: answer });
  }

  /** Lets the user write a reason for the model. */
  askWhy({ call }: Question): void {
    if (this.#open?.question.call !== call) return;
    this.#focused = true;
    this.#state = { ...this.#state, message: "" };
  }

  onPaste(text: string): boolean {
    if (!this.hasFocus || this.#open === undefined) return false;
    const step = this.#open.dialog.onPaste?.(this.#state, text);
    if (this.#state.message === undefined || step === undefined) return false;
    this.#take(step);
    return true;
  }

  view(size: DialogSize, theme: Theme): DialogView | undefined {
    if (this.#open === undefined) return undefined;
    const view = this.#open.dialog.view(this.#state, { ...size, rows: size.rows - 1 }, theme);
    const hint = this.#focused ? "tab: back to the draft" : "tab: answer the question";
    return { ...view, lines: [...view.lines, theme.dim(hint)] };
  }

  #take(step: Step<PermissionState, PermissionAnswer>): void {
    if (!("done" in step)) {
      this.#state = step.state;
      return;
    }
    const question = this.#open?.question;
    this.#open = undefined;
    if (question === undefined) return;
    this.#answered.add(question.call);
    this.#options.answer(question, step.done);
  }
}
