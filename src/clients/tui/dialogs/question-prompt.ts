/**
 * Shows the open questions beside the draft: one of them whole, and a list if there are several.
 *
 * 1. A question that appears while the user types takes no key until the user pauses, so that no letter for the draft answers it.
 * 2. It has the focus if the draft is empty. Tab switches between question and draft, and both stay on the screen.
 * 3. Left and right go from one question to another, so that they are answered in any order.
 * 4. Esc and Ctrl-C interrupt the turn that asks, as at any other time. Without a turn Esc denies.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText } from "../../../base/text-width.js";
import type { EventPayloads } from "../../../protocol/events.js";
import type { TurnId } from "../../../protocol/ids.js";
import { type PermissionAnswer, shortQuestion } from "../../sdk/permission-choices.js";
import type { PlanAnswer } from "../../sdk/plan-choices.js";
import type { ContentTools } from "../content/tools.js";
import type { Key } from "../terminal/terminal.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView, Step } from "./dialog.js";
import { type PermissionState, permissionDialog } from "./permission.js";
import { PLAN_DIALOG } from "./plan.js";
import { type TokenAnswer, type TokenRequest, tokenDialog } from "./token-request.js";

type Question = EventPayloads["PermissionRequested"];

export interface OpenQuestions {
  readonly questions: readonly Question[];
  readonly tokens: readonly TokenRequest[];
  /** The turn that ended with a plan. */
  readonly plan?: TurnId;
}

export interface QuestionPromptOptions {
  readonly answer: (question: Question, answer: PermissionAnswer) => void;
  /** Shows the change of the call on the full screen. */
  readonly review: (question: Question) => void;
  readonly answerPlan: (answer: PlanAnswer) => void;
  /** Puts a key into the draft. */
  readonly type: (key: Key) => void;
  readonly answerToken: (token: TokenRequest, answer: TokenAnswer) => void;
  readonly copyCode: (token: TokenRequest) => void;
  /** They colour the code of a change. */
  readonly tools?: () => ContentTools;
}

/** An open question with its dialog; `special` are keys that leave it open. */
interface Open {
  readonly id: string;
  /** A call of a turn asks. */
  readonly isCall: boolean;
  readonly dialog: Dialog<PermissionState, unknown>;
  readonly special: Readonly<Record<string, () => void>>;
  readonly answered: (answer: unknown) => void;
}

/** One of several open questions, as a list shows it. */
interface Waiting {
  readonly id: string;
  readonly title: string;
  readonly open: () => Open;
}

interface Place {
  readonly now: number;
  readonly draftIsEmpty: boolean;
}

interface KeyPlace {
  readonly now: number;
  readonly turnRuns: boolean;
}

const PAUSE_MS = 500;
/** The most open questions that are listed at once. */
const MOST_LISTED = 5;

export class QuestionPrompt {
  readonly #options: QuestionPromptOptions;
  #open: Open | undefined;
  #waiting: readonly Waiting[] = [];
  #state: PermissionState = { scroll: 0 };
  /** Answered here; the engine has not confirmed it yet. */
  readonly #answered = new Set<string>();
  #focused = false;
  #lastKeyAt = Number.NEGATIVE_INFINITY;
  /** The user has paused since the question appeared. */
  #armed = false;
  /** A letter answered about a plan. What follows without a pause may be the rest of words such as "yes, go ahead"; this much has come. */
  #words: { readonly text: string; readonly keys: readonly Key[] } | undefined;

  constructor(options: QuestionPromptOptions) {
    this.#options = options;
  }

  get hasFocus(): boolean {
    return this.#open !== undefined && this.#focused;
  }

  show({ questions, tokens, plan }: OpenQuestions, { now, draftIsEmpty }: Place): void {
    // The usual case, at every paint.
    if (questions.length + tokens.length === 0 && plan === undefined) {
      this.#open = undefined;
      this.#waiting = [];
      return;
    }
    const isOpen = ({ id }: Waiting) => !this.#answered.has(id);
    // A token comes first, because its code is valid for a minute only.
    this.#waiting = [
      ...tokens.map((token) => ({
        id: token.request,
        title: "Give a program a token?",
        open: () => this.#ofToken(token),
      })),
      ...questions.map((question) => ({
        ...{ id: question.call, title: shortQuestion(question) ?? question.summary },
        open: () => this.#ofCall(question),
      })),
      ...(plan === undefined ? [] : [{ id: plan, title: "Carry out the plan?", open: () => this.#ofPlan(plan) }]),
    ].filter(isOpen);
    if (this.#waiting.some(({ id }) => id === this.#open?.id)) return;
    this.#open = this.#waiting[0]?.open();
    if (this.#open === undefined) return;
    this.#state = this.#open.dialog.first;
    this.#focused = draftIsEmpty;
    this.#armed = now - this.#lastKeyAt >= PAUSE_MS;
  }

  #ofCall(question: Question): Open {
    const { answer, review, tools } = this.#options;
    return {
      id: question.call,
      isCall: true,
      dialog: permissionDialog(question, tools && { tools }),
      special: { v: () => review(question) },
      answered: (given) => answer(question, given as PermissionAnswer),
    };
  }

  #ofPlan(id: TurnId): Open {
    const { answerPlan } = this.#options;
    return {
      id,
      isCall: false,
      dialog: PLAN_DIALOG,
      special: {},
      answered: (given) => answerPlan(given as PlanAnswer),
    };
  }

  #ofToken(token: TokenRequest): Open {
    const { answerToken, copyCode } = this.#options;
    return {
      id: token.request,
      isCall: false,
      dialog: tokenDialog(token),
      special: { c: () => copyCode(token) },
      answered: (given) => answerToken(token, given as TokenAnswer),
    };
  }

  /** The draft was sent, so the next key is not for it. */
  onSent(): void {
    this.#lastKeyAt = Number.NEGATIVE_INFINITY;
  }

  /** False if the key is not for the question. */
  onKey(key: Key, { now, turnRuns }: KeyPlace): boolean {
    const pause = now - this.#lastKeyAt;
    this.#lastKeyAt = now;
    if (this.#words !== undefined && this.#isOfWords(key, pause)) return true;
    if (this.#open === undefined) return false;
    if (pause >= PAUSE_MS) this.#armed = true;
    if (key.id === "tab" && (this.#state.message === undefined || !this.#focused)) {
      this.#focused = !this.#focused;
      return true;
    }
    if (!this.#focused || key.id === "ctrl+c") return false;
    const isFirst = this.#state.message === undefined && this.#state.where === undefined;
    if (key.id === "escape" && turnRuns && this.#open.isCall && isFirst) return false;
    // Ignored: the user typed it before reading the question.
    if (!this.#armed) return true;
    if (this.#canMove && (key.id === "left" || key.id === "right")) {
      this.#move(key.id === "left" ? -1 : 1);
      return true;
    }
    const special = this.#state.message === undefined ? this.#open.special[key.id ?? ""] : undefined;
    if (special !== undefined) special();
    else {
      const isPlan = this.#open.dialog === PLAN_DIALOG;
      this.#take(this.#open.dialog.onKey(this.#state, key));
      if (isPlan && this.#open === undefined && isText(key)) this.#words = { text: key.data, keys: [] };
    }
    return true;
  }

  /** Takes a key of the words whose first letter answered. Keys that turn out to be of others go to the draft. */
  #isOfWords(key: Key, pause: number): boolean {
    const { text, keys } = this.#words ?? { text: "", keys: [] };
    const typed = text + (isText(key) ? key.data : " ");
    const isNext = pause < PAUSE_MS && (isText(key) || key.id === "enter");
    if (isNext && PLAN_WORDS.some((word) => word.startsWith(typed.toLowerCase()) || begins(typed, word))) {
      this.#words = { text: typed, keys: [...keys, key] };
      return true;
    }
    this.#words = undefined;
    const isAnswer = !isNext && PLAN_WORDS.some((word) => begins(`${text} `, word));
    if (!isAnswer) for (const each of keys) this.#options.type(each);
    return false;
  }

  /** A form and the words of a denial need the arrows themselves. */
  get #canMove(): boolean {
    return this.#waiting.length > 1 && this.#state.message === undefined;
  }

  #move(by: number): void {
    const at = this.#waiting.findIndex(({ id }) => id === this.#open?.id);
    this.#open = this.#waiting.at((at + by) % this.#waiting.length)?.open();
    this.#state = this.#open?.dialog.first ?? this.#state;
  }

  /** Sends the answer of the review, unless the question was answered elsewhere meanwhile. */
  answerFor({ call }: Question, answer: PermissionAnswer): void {
    if (this.#open?.id === call) this.#take({ done: answer });
  }

  /** Lets the user write a reason for the model. */
  askWhy({ call }: Question): void {
    if (this.#open?.id !== call) return;
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
    const list = this.#list(size, theme);
    const inner = this.#open.dialog.view(this.#state, { ...size, rows: size.rows - 1 - list.length }, theme);
    const { cursor } = inner;
    const view = {
      lines: [...list, ...inner.lines],
      ...(cursor && { cursor: { ...cursor, row: cursor.row + list.length } }),
    };
    // In a form the key moves to the next field.
    if (this.#focused && this.#state.form !== undefined) return view;
    const stop = this.#open.isCall && this.#state.message === undefined ? " · esc: stop" : "";
    const hint = this.#focused ? `tab: back to the draft${stop}` : "tab: answer the question";
    return { ...view, lines: [...view.lines, theme.dim(truncateText(hint, size.columns))] };
  }

  /** The open questions, if there are several: one may be answered before another. */
  #list({ columns, rows }: DialogSize, theme: Theme): readonly string[] {
    const count = this.#waiting.length;
    if (count < 2) return [];
    const at = this.#waiting.findIndex(({ id }) => id === this.#open?.id);
    const keys = this.#canMove && this.#focused ? ", left and right go to another" : "";
    const head = theme.dim(truncateText(`question ${at + 1} of ${count}${keys}`, columns));
    const room = Math.min(MOST_LISTED, Math.floor(rows / 4));
    const first = Math.max(0, Math.min(at - room + 2, count - room));
    const listed = this.#waiting.slice(first, first + room).map(({ title }, index) => {
      const isHere = first + index === at;
      const line = truncateText(`${isHere ? "❯ " : "  "}${safeLine(title)}`, columns);
      return isHere ? theme.strong(line) : theme.dim(line);
    });
    return [head, ...(room > 1 ? listed : [])];
  }

  #take(step: Step<PermissionState, unknown>): void {
    if (!("done" in step)) {
      this.#state = step.state;
      return;
    }
    const answered = this.#open;
    this.#open = undefined;
    if (answered === undefined) return;
    this.#answered.add(answered.id);
    answered.answered(step.done);
  }
}

/** What a person may type whose first letter is an answer about a plan. */
const PLAN_WORDS = ["yes", "yeah", "yep", "ya", "edit", "each", "cancel"];

function begins(typed: string, word: string): boolean {
  return new RegExp(`^${word}[^a-z]`, "i").test(typed);
}

function isText({ id, data }: Key): boolean {
  return id !== "enter" && [...data].length === 1 && data >= " " && data !== "\x7f";
}
