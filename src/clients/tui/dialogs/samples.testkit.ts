/** Dialogs with sample content, for tests of whole screens. */
import type { CallId } from "../../../protocol/ids.js";
import type { ModelInfo, SettingInfo, WaitingContent } from "../../../protocol/queries.js";
import { proposedChange } from "../../sdk/shown/proposed-change.js";
import type { Block } from "../content/block.js";
import { settingForm, settingItem } from "../effects/open-settings.js";
import { withText } from "../effects/review-files.js";
import { endWords } from "../effects/review-question.js";
import { undoFiles, endWords as undoWords } from "../effects/review-undo.js";
import type { Question } from "../state.js";
import type { Key } from "../terminal/terminal.js";
import { plainTheme } from "../themes.js";
import { contentReview } from "./content-review.js";
import type { Dialog, DialogSize } from "./dialog.js";
import { helpDialog } from "./help.js";
import { pickerDialog } from "./list-picker.js";
import { modelDialog, modelItems, noteOn } from "./model-picker.js";
import { permissionDialog } from "./permission.js";
import { QuestionPrompt } from "./question-prompt.js";
import { type ReviewFile, reviewDialog } from "./review.js";
import { sidebarDialog } from "./sidebar.js";
import { tokenDialog } from "./token-request.js";
import { transcriptDialog } from "./transcript.js";

const CALL = "call_1" as CallId;
const LONG = "a word ".repeat(30).trim();
/** What a hostile name tries: to clear the screen, to look like a choice, to turn the direction. */
export const HOSTILE = "evil\u001b[2J\u001b]0;x\u0007\r[y] allow\u202e.txt";

const TOKEN = {
  request: "req_1",
  asks: `A program asks for a token: agent, ${HOSTILE}, for 24 h.`,
  code: "012345",
  until: 0,
};

const MODELS: readonly ModelInfo[] = [
  {
    ...{ provider: "anthropic", model: "claude-sonnet-4-5", label: "Claude Sonnet 4.5", context_window: 200_000 },
    ...{ price: { input: 3, output: 15 }, tools: true, images: true, thinking: true },
  },
  { provider: "ollama", model: "tiny", context_window: 4096, tools: false },
  { provider: HOSTILE, model: HOSTILE },
];

export const QUESTIONS: Readonly<Record<string, Question>> = {
  command: {
    call: CALL,
    tool: "bash",
    tool_kind: "run",
    args: { command: "npm install left-pad && rm -rf node_modules/.cache" },
    summary: "npm install left-pad && rm -rf node_modules/.cache",
    reason: "It removes files, and no rule allows that.",
    offer: ["bash: npm install *"],
    always: ["bash+network: npm install *"],
  },
  edit: {
    call: CALL,
    tool: "edit",
    tool_kind: "edit",
    args: { path: "src/app.ts", edits: [{ old: "const a = 1;\nconst b = 2;", new: "const a = 1;\nconst b = 3;" }] },
    summary: "edit src/app.ts",
    offer: [],
  },
  guarded: {
    call: CALL,
    tool: "write",
    tool_kind: "edit",
    args: { path: ".git/hooks/pre-commit", content: `#!/bin/sh\n${LONG}\n` },
    summary: "write .git/hooks/pre-commit",
    reason: "git runs it.",
    once_only: true,
    timeout_ms: 60_000,
  },
  hostile: {
    call: CALL,
    tool: "bash",
    tool_kind: "run",
    args: { command: HOSTILE },
    summary: HOSTILE,
    reason: HOSTILE,
    offer: [HOSTILE],
  },
};

const UNDO = {
  redo: false,
  guarded: ["Makefile"],
  items: [
    {
      path: "src/app.ts",
      action: "restore",
      kind: "file",
      state: "ready",
      added: 2,
      removed: 2,
      diff: `@@ -1,3 +1,3 @@\n import a\n-const one = 1;\n+const one = 2;\n x\n@@ -40,3 +40,3 @@\n y\n-${LONG}\n+${LONG} more\n z`,
    },
    {
      path: "Makefile",
      action: "delete",
      kind: "file",
      state: "ready",
      added: 0,
      removed: 1,
      diff: "@@ -1,1 +0,0 @@\n-all:",
    },
    { path: "b.txt", action: "restore", kind: "file", state: "conflict", reason: "it was changed since" },
    { path: HOSTILE, action: "chmod", kind: "file", state: "ready" },
    { path: "new", action: "delete", kind: "folder", state: "ready", follows: true },
  ],
} as const;

const BLOCKS: readonly Block[] = [
  { kind: "prompt", text: "What is here?", images: 0 },
  { kind: "thinking", text: "I look at the files.", elapsedMs: 1200 },
  { kind: "answer", markdown: "Two files:\n\n- `a.txt`\n- `b.txt`" },
  { kind: "notice", level: "warning", text: LONG },
];

const items = ["fix the tests", LONG, HOSTILE].map((label, index) => ({
  value: index,
  label,
  columns: ["2 h", "done", "mock:m", "/home/me/project"],
  preview: ["/home/me/project", `mock:m, sess_${index}`],
  current: index === 0,
}));

export function key(id: string): Key {
  return { id, data: id.length === 1 ? id : "" };
}

/** The state after some keys. */
export function stateAfter<S, R>(dialog: Dialog<S, R>, keys: readonly string[]): S {
  let state = dialog.first;
  for (const id of keys) {
    const step = dialog.onKey(state, key(id));
    if ("done" in step) throw new Error(`the dialog ended with ${id}`);
    state = step.state;
  }
  return state;
}

export const undoReview = () =>
  reviewDialog({ title: "Undo of turn 2", files: undoFiles(UNDO), unit: "file", end: undoWords(UNDO) });

export const editReview = () =>
  reviewDialog({
    title: "Allow edit?",
    files: proposedChange({
      path: "a.ts",
      edits: [
        { old: "one", new: "two" },
        { old: "", new: "three\nfour" },
      ],
    }),
    unit: "hunk",
    end: endWords,
    answers: [{ keys: ["y", "1"], label: "allows all of it once" }],
  });

/** A change of a file that the client can read. */
export const wholeReview = (save = (name: string, _text: string) => `/state/reviews/${name}`) => {
  const content = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join("\n");
  const [file] = proposedChange({
    path: "src/a.ts",
    edits: [
      { old: "line 20", new: `line 20\nconst ${HOSTILE} = 1;` },
      { old: "line 4\nline 5", new: "line 4\nline five" },
    ],
  });
  return reviewDialog({
    title: "Allow edit?",
    files: [withText(file as ReviewFile, { exists: true, content: `${content}\n` })],
    unit: "hunk",
    end: endWords,
    save,
  });
};

const SEEN = { pages: [BLOCKS], state: "complete", loadEarlier: () => {} } as const;

export const approvalReview = () => contentReview(WAITING).dialog;

const WAITING: readonly WaitingContent[] = [
  {
    id: "1",
    sha256: "a",
    name: "AGENTS.md",
    label: "instruction file",
    effect: "informs",
    owner: "project",
    state: "changed",
    size: "2.0 KB",
    notes: ["It holds hidden characters, spelled here as ‹U+…›."],
    diff: `@@ -1,2 +1,2 @@\n # Rules\n-Use tabs.\n+Use spaces‹U+200B›. ${LONG}`,
  },
  {
    id: "2",
    sha256: "b",
    name: ".mcp.json: mcp_servers.search",
    label: "MCP server",
    effect: "runs",
    owner: "project",
    state: "new",
    size: "40 bytes",
    notes: [],
    diff: '@@ -0,0 +1,3 @@\n+{\n+  "command": "search"\n+}',
  },
];

type Shown = (size: DialogSize) => readonly string[];

function shown<S, R>(dialog: () => Dialog<S, R>, keys: readonly string[] = []): Shown {
  return (size) => {
    const opened = dialog();
    // A dialog may measure at its first view.
    opened.view(opened.first, size, plainTheme);
    return opened.view(stateAfter(opened, keys), size, plainTheme).lines;
  };
}

export const models = () =>
  modelDialog({
    name: "models",
    title: "Model",
    scopes: [{ name: "all", items: modelItems(MODELS, "anthropic:claude-sonnet-4-5") }],
    empty: "No model.",
    matches: (filter, text) => text.includes(filter),
    effort: "low",
  });

const offlineOnly = () =>
  pickerDialog({
    name: "models",
    title: "Model",
    scopes: [{ name: "all", items: modelItems([], "offline:offline") }],
    empty: "No model matches.",
    matches: (filter, text) => text.includes(filter),
    note: noteOn([{ provider: "offline" }]) ?? "",
  });

const picker = () =>
  pickerDialog({
    name: "sessions",
    title: "Resume",
    scopes: [
      { name: "this folder", items },
      { name: "all folders", items: [] },
    ],
    empty: "No session here.",
    matches: (filter, text) => text.includes(filter),
  });

const SETTINGS: readonly SettingInfo[] = [
  {
    ...{ name: "effort", about: "how much the model thinks", value: "high", origin: "OXBOW_EFFORT", guide: "models" },
    ...{ source: "environment", kind: "choice", choices: ["low", "high"], holds: "session", command: "effort" },
  },
  {
    ...{ name: "extra_roots", about: LONG, value: `/home/me/${HOSTILE}`, origin: "/home/me/.oxbow/config.toml" },
    ...{ source: "user", kind: "text", holds: "session", guide: "permissions", in_use: "(none)" },
  },
  {
    ...{ name: "log", about: "levels of the log", value: "info", origin: "default", source: "default", kind: "text" },
    ...{ holds: "engine", guide: "service" },
  },
];

export const settings = () =>
  pickerDialog({
    name: "settings",
    title: "Settings",
    scopes: [{ name: "all", items: SETTINGS.map((setting) => settingItem(setting)) }],
    empty: "No setting matches.",
    matches: (filter, text) => text.includes(filter),
  });

export const sidebar = () =>
  sidebarDialog([
    {
      title: "Sessions of this folder",
      rows: ["2h  fix the tests", `3d  ${HOSTILE}`].map((text, index) => ({
        text,
        action: { kind: "resume", session: `sess_${index}` },
      })),
    },
    { title: "Rules of this session", rows: [{ text: `1. bash: ${LONG}`, action: { kind: "revoke", rule: 1 } }] },
    { title: "Skills", rows: [] },
    { title: "Instructions", rows: [{ text: "AGENTS.md" }] },
  ]);

/** The second of five questions. */
const several: Shown = (size) => {
  const nothing = () => {};
  const prompt = new QuestionPrompt({
    ...{ answer: nothing, review: nothing, answerPlan: nothing, type: nothing, answerToken: nothing },
    copyCode: nothing,
  });
  const questions = Object.values(QUESTIONS).map((each, at) => ({ ...each, call: `call_${at}` as CallId }));
  prompt.show({ questions, tokens: [TOKEN] }, { now: 1000, draftIsEmpty: true });
  prompt.onKey(key("right"), { now: 2000, turnRuns: true });
  return prompt.view(size, plainTheme)?.lines ?? [];
};

export const DIALOGS: Readonly<Record<string, Shown>> = {
  ...Object.fromEntries(
    Object.entries(QUESTIONS).map(([name, question]) => [`question: ${name}`, shown(() => permissionDialog(question))]),
  ),
  "questions: several": several,
  "question: always": shown(() => permissionDialog(QUESTIONS.command as Question), ["a"]),
  "question: why not": shown(() => permissionDialog(QUESTIONS.command as Question), ["m", "n", "o"]),
  "question: token": shown(() => tokenDialog(TOKEN)),
  picker: shown(picker),
  "picker: models": shown(models, ["down", "right"]),
  "picker: only the offline model": shown(offlineOnly),
  "picker: filter": shown(picker, ["f", "i", "x"]),
  "picker: empty": shown(picker, ["tab"]),
  settings: shown(settings),
  "settings: holds later": shown(settings, ["down"]),
  "settings: a text": shown(() => settingForm(SETTINGS[1] as SettingInfo), ["x"]),
  help: shown(() => helpDialog()),
  transcript: shown(() => transcriptDialog(SEEN)),
  "transcript: search": shown(() => transcriptDialog(SEEN), ["/", "f"]),
  "review: undo": shown(undoReview),
  "review: guarded": shown(undoReview, ["a"]),
  "review: conflict": shown(undoReview, ["a", "d"]),
  "review: hostile": shown(undoReview, ["a", "d", "s"]),
  "review: one column or two": shown(undoReview, ["v"]),
  sidebar: shown(sidebar, ["down", "down"]),
  "sidebar: empty": shown(() => sidebarDialog([{ title: "Sessions", rows: [] }])),
  "review: hunks": shown(editReview, ["a"]),
  "review: content": shown(approvalReview, ["d"]),
  "review: new file": shown(approvalReview),
  "review: numbered": shown(wholeReview),
  "review: whole file": (size) => shown(wholeReview, size.columns === 80 ? ["v", "v", "w"] : ["v", "w"])(size),
};
