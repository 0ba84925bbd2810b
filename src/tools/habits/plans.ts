/** Describes how models of other harnesses keep a plan and fetch pages. */
import type { Conversion, ToolHabits } from "../../engine/ports.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { isTrue, listIn, same, WORDS, without, words } from "./shared.js";

/* ---- todo ---- */

const STATUS: Readonly<Record<string, string>> = {
  ...same("completed complete finished closed x resolved", "done"),
  ...same("todo not_started not-started open planned new blocked", "pending"),
  "not started": "pending",
  ...same("active doing started current inprogress running working", "in_progress"),
};

export const TODO: ToolHabits = {
  names: words(`
    todo_write update_plan write_todos update_todo_list manage_todo_list todos task_tracker set_plan plan
    write_plan update_todos todo_list create_plan task_list todo_update create_todo_list set_todos tasks
  `),
  parameters: {
    todos: words("plan items tasks steps todo_list task_list list todo checklist entries"),
    "todos.text": words("content step title description task name subject item label todo"),
    "todos.status": ["state"],
  },
  values: { "todos.status": STATUS },
  unused: {
    ...WORDS,
    name: "",
    ...Object.fromEntries(
      words("id activeform priority notes note order index details dependencies parentid createdat updatedat").map(
        (name) => [`todos.${name}`, ""],
      ),
    ),
    ...Object.fromEntries(Object.keys(WORDS).map((name) => [`todos.${name}`, ""])),
  },
  convert: todoArguments,
};

function todoArguments(sent: JsonObject): Conversion | undefined {
  const action = sent.command ?? sent.operation ?? sent.action;
  if (isTrue(sent.merge))
    return { refused: "todo replaces the whole list: send all items, also the unchanged ones. Nothing was run." };
  const args = without(sent, "command", "operation", "action", "merge");
  if (typeof action === "string" && /^(view|read|list|get)$/i.test(action))
    return { refused: "The list stands in your last call of todo. Send the whole list to change it. Nothing was run." };
  if (typeof action === "string" && !/^(plan|write|update|set|create|replace)$/i.test(action))
    return { refused: `todo has no action ${JSON.stringify(action)}: send the whole list. Nothing was run.` };
  const given = args.todos;
  const list = listIn(given) ?? (typeof given === "string" ? checklist(given) : undefined);
  if (list === undefined) return { args };
  const notes: string[] = [];
  const items = list.flatMap((item): readonly JsonValue[] => {
    if (typeof item === "string") return checklist(item) ?? [{ text: item, status: "pending" }];
    if (!isJsonObject(item)) return [item];
    const { status, completed, done } = item;
    if (typeof status === "string" && /^cancell?ed|^deleted|^skipped/i.test(status)) {
      notes.push("Items that are cancelled were left out.");
      return [];
    }
    const isDone = completed ?? done;
    const rest = without(withText(item), "completed", "done", ...(typeof status === "boolean" ? ["status"] : []));
    if (typeof (isDone ?? status) === "boolean")
      return [{ ...rest, status: isTrue(isDone ?? status) ? "done" : "pending" }];
    return [item.status === undefined && item.state === undefined ? { ...rest, status: "pending" } : rest];
  });
  return { args: { ...args, todos: items }, notes: [...new Set(notes)] };
}

/** Of a title and a longer description the title is the item. */
function withText(item: JsonObject): JsonObject {
  const names = words("text content step title subject task name item label todo description");
  const [first, ...others] = names.filter((name) => typeof item[name] === "string");
  return first === undefined || others.length === 0 ? item : without(item, ...others);
}

/** `- [x] done`, `- [ ] open`, `1. open`: the lines of a Markdown list. */
function checklist(text: string): readonly JsonObject[] | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const items = lines.map((line) => /^\s*(?:[-*+]|\d+[.)])\s*(?:\[(.)\]\s*)?(.+)$|^\s*\[(.)\]\s*(.+)$/.exec(line));
  if (items.length === 0 || items.some((item) => item === null)) return undefined;
  return items.map((item) => ({
    text: (item?.[2] ?? item?.[4] ?? "").trim(),
    status: marked(item?.[1] ?? item?.[3] ?? " "),
  }));
}

function marked(mark: string): string {
  if (/[xX✓✔]/.test(mark)) return "done";
  return mark === " " ? "pending" : "in_progress";
}

/* ---- web_fetch ---- */

export const WEB_FETCH_HABITS: ToolHabits = {
  names: words(`
    fetch fetch_url web_fetch_tool url_fetch read_url read_url_content get_url http_get browse open_url
    fetch_webpage fetch_web_page read_web_page web_scrape scrape fetch_content fetch_page read_webpage visit
    get_page curl browser_navigate fetch_web_content agentic_fetch
  `),
  parameters: {
    url: words("uri urls link href address page requests"),
    limit: ["max_length", "max_chars", "max_characters", "max_content_length"],
    offset: ["start_index", "start"],
    format: ["output_format", "output", "return_format"],
  },
  values: { format: { html: "raw", md: "markdown", plain: "text", txt: "text", json: "raw", source: "raw" } },
  unused: {
    ...WORDS,
    ...same("prompt query objective question extractionprompt", "the page itself is returned."),
    ...same("timeout timeoutms", "the tool has its own limit."),
    useragent: "the tool has its own.",
  },
  convert(sent) {
    let args = sent;
    const method = args.method;
    if (method !== undefined && !/^get$/i.test(String(method)))
      return {
        refused: `web_fetch only gets pages: it does not know \`method\` ${JSON.stringify(method)}. Nothing was run.`,
      };
    args = without(args, "method");
    for (const name of ["headers", "body", "data", "cookies"]) {
      const given = args[name];
      const isEmpty = given === undefined || given === "" || (isJsonObject(given) && Object.keys(given).length === 0);
      if (!isEmpty)
        return {
          refused: `web_fetch does not know \`${name}\`; it takes url, format, offset, limit; nothing was run.`,
        };
      args = without(args, name);
    }
    if (isTrue(args.raw)) args = { ...args, format: "raw" };
    args = without(args, "raw");
    const list = listIn(args.url)?.map((each) => (isJsonObject(each) ? (each.url ?? "") : each));
    if (list?.length === 1) args = { ...args, url: list[0] as JsonValue };
    if (list !== undefined && list.length > 1) {
      const calls = list.map((url) => JSON.stringify({ url })).join(" ");
      return { refused: `web_fetch takes one address a call. Nothing was run. Send these calls: ${calls}` };
    }
    // Gemini CLI names the addresses within the prompt.
    if (args.url === undefined && typeof args.prompt === "string") {
      const urls = [...new Set(args.prompt.match(/https?:\/\/[^\s"'<>()]+/g) ?? [])].map((url) =>
        url.replace(/[.,;:!?]+$/, ""),
      );
      if (urls.length === 1) args = { ...args, url: urls[0] as string };
      else if (urls.length > 1)
        return {
          refused: `web_fetch takes one address a call. Nothing was run. Send these calls: ${urls.map((url) => JSON.stringify({ url })).join(" ")}`,
        };
    }
    return { args };
  },
};

/* ---- web_search ---- */

export const WEB_SEARCH_HABITS: ToolHabits = {
  names: words(`
    google_web_search search_web websearch internet_search brave_web_search tavily_search google_search bing_search
    duckduckgo_search search_engine browser_search web_search_preview
  `),
  parameters: {
    query: words("q search_query search_term queries keywords question objective text input search"),
    count: words("max_results num_results limit n top_k number_of_results results"),
  },
  unused: {
    ...WORDS,
    ...same("searchcontextsize searchdepth topic userlocation safesearch", "the search has no such choice."),
  },
  convert(sent) {
    const lists = (value: JsonValue | undefined) => (listIn(value) ?? []).filter((each) => typeof each === "string");
    const inside = [...lists(sent.alloweddomains), ...lists(sent.includedomains), ...lists(sent.domains)];
    const outside = [...lists(sent.blockeddomains), ...lists(sent.excludedomains)];
    const args = without(sent, ..."alloweddomains includedomains domains blockeddomains excludedomains".split(" "));
    const queries = listIn(args.query);
    if (queries !== undefined && queries.length > 1) {
      const calls = queries.map((query) => JSON.stringify({ query })).join(" ");
      return { refused: `web_search takes one query a call. Nothing was run. Send these calls: ${calls}` };
    }
    const [query = args.query] = queries ?? [];
    if (typeof query !== "string") return { args };
    const sites = inside.map((domain) => `site:${domain}`).join(" OR ");
    return {
      args: { ...args, query: [query, sites, ...outside.map((domain) => `-site:${domain}`)].filter(Boolean).join(" ") },
    };
  },
};

/* ---- git ---- */
