/** A question whether a call may run: what will happen, the change or the command, and the answers of all clients. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { humanWait } from "../../../protocol/errors.js";
import { DISMISSED, type FormField, type FormValue } from "../../../protocol/form.js";
import type { SessionId } from "../../../protocol/ids.js";
import { readSlashAnswer, slashRequest } from "../../../protocol/slash-command.js";
import {
  askedCommand,
  type PermissionAnswer,
  type PermissionChoice,
  permissionChoices,
  RULE_PLACES,
  shortQuestion,
} from "../../sdk/permission-choices.js";
import { PLAN_CHOICES, PLAN_QUESTION } from "../../sdk/plan-choices.js";
import { proposedChange } from "../../sdk/shown/proposed-change.js";
import type { Question } from "../state/conversation.js";
import { type SessionView, showToast, tell, tellSession } from "../store.js";
import { CodeLines } from "./code.js";
import { Diff } from "./diff.js";
import { useKeys } from "./keys.js";

export async function answer(
  session: SessionId,
  { call }: Question,
  { decision, message, always }: PermissionAnswer,
): Promise<void> {
  const told = await tell("AnswerPermission", { call, decision, ...(message !== undefined && { message }) }, session);
  if (told === undefined || always === undefined) return;
  const kept = await tell("CustomCommand", slashRequest("permissions", `promote ${call} ${always}`), session);
  if (kept !== undefined) showToast(readSlashAnswer(kept.value).text);
}

export function titleOf(question: Question): string {
  const { form, summary } = question;
  if (form !== undefined) return safeLine(summary.charAt(0).toUpperCase() + summary.slice(1));
  return shortQuestion(question) ?? `Allow ${safeLine(question.tool)}?`;
}

export interface QuestionProps {
  readonly session: SessionId;
  readonly question: Question;
  readonly waiting: number;
  /** In a list: without the change. */
  readonly isShort?: boolean;
}

export function QuestionCard({ session, question, waiting, isShort = false }: QuestionProps) {
  const { form, reason, once_only: onceOnly, timeout_ms: timeout } = question;
  return (
    <section class="question" aria-label="Waiting for you" data-call={question.call}>
      <header>
        <h2>{titleOf(question)}</h2>
        {waiting > 0 && <span class="dim">{waiting} more after this</span>}
      </header>
      {form === undefined ? (
        <>
          {!isShort && <Proposal question={question} />}
          {reason !== undefined && <p class="dim">{safeLine(reason)}</p>}
          <Choices session={session} question={question} hasKeys={!isShort} />
          {onceOnly && <p class="dim">You can allow only this one call.</p>}
        </>
      ) : (
        <Form session={session} question={question} fields={form} />
      )}
      {timeout !== undefined && <p class="dim">Denied automatically after {humanWait(timeout)}.</p>}
    </section>
  );
}

/** The change as a diff, the command as code, otherwise what the engine says about it. */
function Proposal({ question }: { readonly question: Question }) {
  const { args, preview, summary } = question;
  const files = useMemo(() => proposedChange(args), [args]);
  if (files.length > 0) {
    return (
      <>
        {files.map(({ path, what, notes, hunks }) => (
          <section class="file" key={path} aria-label={path}>
            <header>
              <code>{safeLine(path)}</code>
              <span class="dim">{what}</span>
            </header>
            <Diff path={path} hunks={hunks} notes={notes} />
          </section>
        ))}
      </>
    );
  }
  if (askedCommand(question) === undefined && typeof args.command === "string") {
    return (
      <pre class="asked">
        <CodeLines text={safeText(args.command)} language="bash" />
      </pre>
    );
  }
  const said = shortQuestion(question) === undefined ? safeText(summary) : "";
  return (
    <>
      {said !== "" && <p>{said}</p>}
      {preview !== undefined && <pre class="asked">{safeText(preview)}</pre>}
    </>
  );
}

interface ChoicesProps {
  readonly session: SessionId;
  readonly question: Question;
  readonly hasKeys: boolean;
}

function Choices({ session, question, hasKeys }: ChoicesProps) {
  const [step, setStep] = useState<"choose" | "where" | "why">("choose");
  const choices = step === "where" ? RULE_PLACES : permissionChoices(question);
  const take = (choice: PermissionChoice) => {
    if (choice.answer === "where" || choice.answer === "why") setStep(choice.answer);
    else void answer(session, question, choice.answer);
  };
  useKeys(hasKeys && step !== "why" ? Object.fromEntries(choices.map((each) => [each.key, () => take(each)])) : {});
  if (step === "why") {
    return (
      <Words
        label="Why not"
        send="Deny"
        onBack={() => setStep("choose")}
        onSend={(words) =>
          void answer(session, question, { decision: "deny", ...(words !== "" && { message: words }) })
        }
      />
    );
  }
  return (
    <fieldset class="choices">
      <legend class={step === "where" ? "" : "hidden"}>
        {step === "where" ? "Always allow it where?" : "Your answer"}
      </legend>
      {choices.map((choice) => (
        <button type="button" key={choice.key} class={`choice k-${choice.key}`} onClick={() => take(choice)}>
          <kbd aria-hidden="true">{choice.key}</kbd> {choice.label}
        </button>
      ))}
    </fieldset>
  );
}

/** Words that go along with an answer. */
function Words({
  label,
  send,
  onSend,
  onBack,
}: {
  readonly label: string;
  readonly send: string;
  readonly onSend: (words: string) => void;
  readonly onBack: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <form
      class="words"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(input.current?.value.trim() ?? "");
      }}
    >
      <label>
        {label} <input ref={input} onKeyDown={(event) => event.key === "Escape" && onBack()} />
      </label>
      <button type="submit">{send}</button>
      <button type="button" class="quiet" onClick={onBack}>
        Back
      </button>
    </form>
  );
}

interface FormProps {
  readonly session: SessionId;
  readonly question: Question;
  readonly fields: readonly FormField[];
}

/** Values that a tool or a server asks for. */
function Form({ session, question, fields }: FormProps) {
  const send = (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const values: Record<string, FormValue> = {};
    for (const field of fields) {
      const value = enteredIn(field, data);
      if (value !== undefined) values[field.name] = value;
    }
    void answer(session, question, { decision: "allow_once", message: JSON.stringify(values) });
  };
  const leave = (message?: string) =>
    void answer(session, question, { decision: "deny", ...(message !== undefined && { message }) });
  return (
    <form class="fields" onSubmit={send}>
      {fields.map((field) => (
        <Field key={field.name} field={field} />
      ))}
      <div class="row">
        <button type="submit" class="primary">
          Send
        </button>
        <button type="button" onClick={() => leave()}>
          Decline
        </button>
        <button type="button" class="quiet" onClick={() => leave(DISMISSED)}>
          Dismiss
        </button>
      </div>
    </form>
  );
}

function enteredIn({ name, kind, required }: FormField, data: FormData): FormValue | undefined {
  if (kind === "some") return data.getAll(name).map(String);
  if (kind === "yes_no") return data.get(name) === "on";
  const text = String(data.get(name) ?? "");
  if (text === "") return required && kind === "text" ? "" : undefined;
  return kind === "number" || kind === "integer" ? Number(text) : text;
}

function Field({ field }: { readonly field: FormField }) {
  const { name, title = name, description, kind, required, choices = [], hint, default: usual } = field;
  const about = [description, hint].filter((part) => part !== undefined).join(" · ");
  const words = (
    <>
      <span>
        {safeLine(title)}
        {required ? " *" : ""}
      </span>
      {about !== "" && <small class="dim">{safeLine(about)}</small>}
    </>
  );
  if (kind === "one" || kind === "some") {
    const isUsual = (value: string) => (Array.isArray(usual) ? usual.includes(value) : usual === value);
    return (
      <fieldset>
        <legend>{words}</legend>
        {choices.map(({ value, title: label }) => (
          <label key={value} class="pick">
            <input
              type={kind === "one" ? "radio" : "checkbox"}
              name={name}
              value={value}
              defaultChecked={isUsual(value)}
              required={kind === "one" && required === true}
            />
            {safeLine(label)}
          </label>
        ))}
      </fieldset>
    );
  }
  if (kind === "yes_no") {
    return (
      <label class="pick">
        <input type="checkbox" name={name} defaultChecked={usual === true} />
        {words}
      </label>
    );
  }
  const isNumber = kind === "number" || kind === "integer";
  return (
    <label class="field">
      {words}
      <input
        name={name}
        inputMode={isNumber ? "decimal" : "text"}
        pattern={isNumber ? (kind === "integer" ? "-?[0-9]+" : "-?[0-9]*[.]?[0-9]+") : undefined}
        required={required === true}
        defaultValue={usual === undefined ? "" : String(usual)}
      />
    </label>
  );
}

/** The question what to do with a plan; the plan is the answer above it. */
export function PlanCard({ view }: { readonly view: SessionView }) {
  const [isSaying, say] = useState(false);
  const [isGone, setGone] = useState(false);
  const take = (choice: (typeof PLAN_CHOICES)[number]) => {
    const given = choice.answer;
    if (given === "what") return say(true);
    if (given.kind === "cancel") return setGone(true);
    const mode = given.kind === "carry out" ? {} : { mode: "review" as const };
    void tellSession(view, "ExitPlanMode", { approve: true, ...mode });
  };
  useKeys(isSaying || isGone ? {} : Object.fromEntries(PLAN_CHOICES.map((each) => [each.key, () => take(each)])));
  if (isGone) return null;
  return (
    <section class="question" aria-label="Waiting for you">
      <header>
        <h2>{PLAN_QUESTION}</h2>
      </header>
      {isSaying ? (
        <Words
          label="What to change"
          send="Send"
          onBack={() => say(false)}
          onSend={(words) => {
            if (words !== "") void tellSession(view, "SendInput", { content: [{ type: "text", text: words }] });
          }}
        />
      ) : (
        <fieldset class="choices">
          <legend class="hidden">Your answer</legend>
          {PLAN_CHOICES.map((choice) => (
            <button type="button" key={choice.key} class={`choice k-${choice.key}`} onClick={() => take(choice)}>
              <kbd aria-hidden="true">{choice.key}</kbd> {choice.label}
            </button>
          ))}
        </fieldset>
      )}
    </section>
  );
}
