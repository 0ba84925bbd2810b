/**
 * Spending and budgets of a run, for the chain and for `/cost`. The catalogue, the budgets and the store are loaded on demand.
 */
import { join } from "node:path";
import type { Clock } from "../../base/clock.js";
import type { CostTracker, PricedModel, RunJournal, WindowNews } from "../../chain/services.js";
import type { ModelLimits } from "../../context/compaction/limits.js";
import type { Amount, Budget, BudgetLimit, CallBudget, CallLog } from "../../costs/budget.js";
import type { DayBudget, LoggedCall } from "../../costs/day-budget.js";
import type { BudgetState, SessionCosts } from "../../costs/report.js";
import type { Model } from "../../engine/ports.js";
import { isCostOfAnswer } from "../../protocol/answer-ends.js";
import type { Envelope, EnvelopeOf } from "../../protocol/envelope.js";
import type { SessionId } from "../../protocol/ids.js";
import { addUsage, roundUsd } from "../../protocol/usage.js";
import type { ModelFacts } from "../../providers/catalogue/facts.js";
import type { SessionStore, Spending } from "../../sessions/store.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { SessionStores } from "../sessions/session-stores.js";
import type { Settings } from "../settings/settings.js";
import type { ParentRun } from "../subagents.js";

export interface RunCostsOptions {
  readonly session: SessionId;
  /** The session had turns before this run. */
  readonly isResumed: boolean;
  readonly root: string;
  readonly settings: Settings;
  readonly profilePath: string;
  readonly roots: Roots;
  readonly sessions: SessionStores;
  readonly clock: Clock;
  readonly journal: RunJournal;
  /** Says whether calls cost money: answers from a cassette do not. */
  readonly isReplay?: boolean;
  /** The earlier conversation of this process: the budget of the run continues. */
  readonly before?: RunCosts | undefined;
  /** A message for the user. */
  readonly hint?: (message: string) => void;
  /** The parent session of a subagent: its budgets pay, and its spending includes this one's. */
  readonly outer?: Pick<ParentRun, "costs" | "paid"> | undefined;
}

/** Parts of the window; each is reported once until the conversation is compacted. */
const WINDOW_MARKS = [0.8, 0.95] as const;

const SCOPES = { run: "this run", turn: "this turn", session: "this session", day: "this day" } as const;

export class RunCosts implements CostTracker {
  readonly #options: RunCostsOptions;
  readonly #facts = new Map<string, Promise<ModelFacts>>();
  readonly #spent = new Map<string, Spending>();
  #runLimit: BudgetLimit | undefined;
  #run: Promise<Budget> | undefined;
  #turn: Promise<Budget> | undefined;
  #context: { readonly tokens: number; readonly model: string } | undefined;
  #reportedMark = 0;
  #day: DayBudget | undefined;
  #lastEvent = 0;

  constructor(options: RunCostsOptions) {
    this.#options = options;
    this.#runLimit = options.before === undefined ? options.settings.budget.value : options.before.#runLimit;
  }

  onEvent(event: Envelope): void {
    this.#lastEvent = event.id;
    // Costs between turns do not belong to the turn before.
    if (event.kind === "TurnStarted" || event.kind === "TurnEnded") this.#turn = undefined;
    if (event.kind === "CompactionTriggered" && this.#context !== undefined && event.payload.tokens !== undefined) {
      this.#context = { ...this.#context, tokens: event.payload.tokens.after };
    }
    if (event.kind !== "CostIncremented") return;
    const { provider, model, usage } = event.payload;
    const tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
    if (isCostOfAnswer(event.payload) && tokens > 0) this.#context = { tokens, model: `${provider}:${model}` };
    this.#count(event);
  }

  #count(event: EnvelopeOf<"CostIncremented">): void {
    const { provider, model, usage, elapsed_ms, cost } = event.payload;
    const key = `${provider}:${model}`;
    const before = this.#spent.get(key);
    this.#spent.set(key, {
      session: this.#options.session,
      cwd: this.#options.root,
      provider,
      model,
      from: before?.from ?? event.ts,
      calls: (before?.calls ?? 0) + 1,
      usage: before === undefined ? usage : addUsage(before.usage, usage),
      elapsed_ms: (before?.elapsed_ms ?? 0) + elapsed_ms,
      usd: roundUsd((before?.usd ?? 0) + (cost?.usd ?? 0)),
      unpriced: (before?.unpriced ?? 0) + (cost === undefined ? 1 : 0),
    });
    const { outer } = this.#options;
    if (outer === undefined) return;
    outer.costs.#count(event);
    outer.paid(event.payload);
  }

  facts(model: PricedModel): Promise<ModelFacts> {
    const key = `${model.provider}:${model.model}:${model.family}`;
    let facts = this.#facts.get(key);
    if (facts === undefined) {
      facts = this.#lookUp(model);
      this.#facts.set(key, facts);
    }
    return facts;
  }

  async #lookUp(model: PricedModel): Promise<ModelFacts> {
    if (model.candidates !== undefined) {
      const { worstOf } = await import("../../providers/catalogue/worst-facts.js");
      const all = await Promise.all((await model.candidates()).map((candidate) => this.facts(candidate)));
      return worstOf(all);
    }
    const { openCatalogue } = await import("../../providers/catalogue/open-catalogue.js");
    const listed = await openCatalogue(this.#options).facts(model);
    const facts = this.#options.isReplay
      ? { ...listed, price: { input: 0, output: 0 } }
      : await this.#priced(listed, model);
    const { outputTokens: output = facts.output } = model;
    const context = model.contextTokens ?? (await model.contextLimit?.().catch(() => undefined));
    if (context === undefined) return { ...facts, output };
    // The server knows its model better than any list.
    const { assumed: _assumed, input: _input, ...rest } = facts;
    return { ...rest, context, output };
  }

  /** Only a budget in dollars needs a price before the call. */
  async #priced(facts: ModelFacts, model: PricedModel): Promise<ModelFacts> {
    if (facts.price !== undefined || !this.countsDollars) return facts;
    const price = await model.ownPrice?.().catch(() => undefined);
    return price === undefined ? facts : { ...facts, price };
  }

  /** The limits of the model; undefined if unknown. */
  async limitsOf(model: PricedModel): Promise<ModelLimits | undefined> {
    const facts = await this.facts(model);
    if (facts.assumed) return undefined;
    const { readingLimit } = await import("../../providers/catalogue/facts.js");
    const { output } = facts;
    return {
      reads: readingLimit(facts),
      writes: Math.min(this.#options.settings.max_output_tokens.value ?? output, output),
    };
  }

  get countsDollars(): boolean {
    const { outer } = this.#options;
    if (outer !== undefined) return outer.costs.countsDollars;
    return this.#limits().some((limit) => limit?.usd !== undefined);
  }

  callBudget(): Promise<CallBudget> | undefined {
    const { outer } = this.#options;
    if (outer !== undefined) return outer.costs.callBudget();
    if (this.#limits().every((limit) => limit === undefined)) return undefined;
    this.#turn ??= this.#openTurn();
    return this.#turn;
  }

  async callLog(): Promise<CallLog | undefined> {
    const store = await this.#placeOfLogs();
    return store === undefined ? undefined : { store, session: this.#options.session, after: this.#lastEvent };
  }

  /** Resolves when the calls of this run are charged. */
  async close(): Promise<void> {
    await this.#day?.settled();
  }

  adviceFor(scope: string): string {
    if (scope === SCOPES.run) return "--budget or /budget";
    const key = (Object.keys(SCOPES) as (keyof typeof SCOPES)[]).find((each) => SCOPES[each] === scope);
    return key === undefined ? "the budget of the run it belongs to" : `budget_${key} in ${this.#options.profilePath}`;
  }

  priceAdvice(model: string): string {
    return `Give it in ${this.#options.profilePath} ([models."${model}"] price_input, price_output)`;
  }

  #limits(): readonly (BudgetLimit | undefined)[] {
    const { budget_turn, budget_session, budget_day } = this.#options.settings;
    return [this.#runLimit, budget_turn.value, budget_session.value, budget_day.value];
  }

  async #openTurn(): Promise<Budget> {
    this.#run ??= this.#openRun();
    const run = await this.#run;
    return run.child(SCOPES.turn, this.#options.settings.budget_turn.value);
  }

  /** The budget of this run, inside that of the session, inside that of the day. */
  async #openRun(): Promise<Budget> {
    const { settings } = this.#options;
    const { Budget } = await import("../../costs/budget.js");
    const limit = settings.budget_session.value;
    const day = settings.budget_day.value;
    const above = day === undefined ? undefined : await this.#openDay(day);
    const session = new Budget({
      scope: SCOPES.session,
      ...(limit !== undefined && { limit, spent: amountOf(await this.#sessionSpending()) }),
      parent: above,
    });
    // A budget that is set later still includes the spending from the start of the run.
    return new Budget({ scope: SCOPES.run, limit: this.#runLimit ?? {}, parent: session, spent: this.#runSpending() });
  }

  /** Since the program started, in all its conversations. */
  #runSpending(): Amount {
    const { before } = this.#options;
    const own = amountOf([...this.#spent.values()]);
    if (before === undefined) return own;
    const { usd, tokens } = before.#runSpending();
    return { usd: own.usd + usd, tokens: own.tokens + tokens };
  }

  async #openDay(limit: BudgetLimit): Promise<CallBudget> {
    const { DayBudget, startOfDay } = await import("../../costs/day-budget.js");
    const { sessions, clock, roots, hint } = this.#options;
    const today = startOfDay(clock.wall());
    const store = await sessions.open();
    const stored = (await store?.spending({ since: new Date(today).toISOString() })) ?? [];
    this.#day = new DayBudget({
      scope: SCOPES.day,
      limit,
      folder: join(roots.state, "budget"),
      clock,
      known: amountOf(stored),
      readLog: (log) => this.#readLog(log),
      onWait: () => hint?.("other runs have reserved the rest of the day's budget: waiting for them (Ctrl-C cancels)."),
    });
    return this.#day;
  }

  async #placeOfLogs(): Promise<string | undefined> {
    const choice = await this.#options.sessions.choice();
    return choice.kind === "none" ? undefined : `${choice.kind}:${choice.folder}`;
  }

  async #readLog({ store: place, session, after }: CallLog): Promise<LoggedCall | undefined> {
    if (place !== (await this.#placeOfLogs())) return undefined;
    const store = await this.#options.sessions.open();
    if (store === undefined) return undefined;
    const { loggedCall } = await import("../../sessions/logged-call.js");
    return loggedCall(store, session as SessionId, after);
  }

  /** The spending of the session with all its runs and subagents. */
  async #sessionSpending(): Promise<readonly Spending[]> {
    const { sessions, session, isResumed, journal } = this.#options;
    const own = [...this.#spent.values()];
    if (!isResumed) return own;
    // It includes what this run has written.
    await journal.flush();
    const store = await sessions.open();
    return store === undefined ? own : spendingWithSubagents(store, session);
  }

  /** Tells how full the window is, if it is time to warn. */
  async windowNews(model: Model): Promise<WindowNews | undefined> {
    const context = this.#context;
    if (context === undefined) return undefined;
    const facts = await this.facts(model);
    if (facts.assumed) return undefined;
    const { readingLimit } = await import("../../providers/catalogue/facts.js");
    const window = readingLimit(facts);
    const shortens = this.#options.settings.compact_at.value;
    const mark = WINDOW_MARKS.filter((part) => part !== shortens && context.tokens >= part * window).length;
    const isNews = mark > this.#reportedMark;
    this.#reportedMark = mark;
    return isNews ? { model: context.model, used: context.tokens, window } : undefined;
  }

  /** The costs of this session for `/cost`. */
  async sessionCosts(): Promise<SessionCosts> {
    const rows = await this.#sessionSpending().catch(() => [...this.#spent.values()]);
    const { openCatalogue } = await import("../../providers/catalogue/open-catalogue.js");
    return { rows, catalogue: openCatalogue(this.#options), budgets: await this.budgets() };
  }

  /** Replaces the budget of this run; undefined removes it. */
  async setBudget(limit: BudgetLimit | undefined): Promise<void> {
    this.#runLimit = limit;
    const run = await this.#run;
    if (run !== undefined) run.limit = limit ?? {};
  }

  async budgets(): Promise<readonly BudgetState[]> {
    const { budget_turn, budget_session, budget_day } = this.#options.settings;
    const named = [
      { scope: SCOPES.run, limit: this.#runLimit, spent: this.#runSpending() },
      { scope: "each turn", limit: budget_turn.value },
      { scope: SCOPES.session, limit: budget_session.value, spent: amountOf(await this.#sessionSpending()) },
      { scope: "each day", limit: budget_day.value },
    ];
    return named.flatMap((each) => (each.limit === undefined ? [] : [{ ...each, limit: each.limit }]));
  }
}

function amountOf(rows: readonly Spending[]): Amount {
  let usd = 0;
  let tokens = 0;
  for (const { usd: paid, usage } of rows) {
    usd += paid;
    tokens += usage.input + usage.output + usage.cache_read + usage.cache_write;
  }
  return { usd: roundUsd(usd), tokens };
}

async function spendingWithSubagents(store: SessionStore, session: SessionId): Promise<readonly Spending[]> {
  const [own, subagents] = await Promise.all([store.spending({ session }), store.list({ parent: session })]);
  const below = await Promise.all(subagents.map(({ id }) => spendingWithSubagents(store, id)));
  return [...own, ...below.flat()];
}
