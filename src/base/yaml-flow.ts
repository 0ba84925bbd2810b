/** Flow lists and maps of YAML: `[a, "b", {c: d}]`. Scalars are text. */
import type { YamlValue } from "./yaml.js";

/** The value and where it ends; `open` if a bracket or quotation mark is not closed; `wrong` if it is not a flow value. */
export type FlowRead = { readonly value: YamlValue; readonly end: number } | "open" | "wrong";

const MAX_DEPTH = 20;

export function readFlow(text: string): FlowRead {
  const reader = new FlowReader(text);
  const value = reader.value(0);
  return typeof value === "object" && value !== null && "fault" in value ? value.fault : { value, end: reader.at };
}

interface Fault {
  readonly fault: "open" | "wrong";
}

type Read = YamlValue | Fault;

class FlowReader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Read {
    this.#skip();
    if (depth > MAX_DEPTH) return { fault: "wrong" };
    const first = this.#text[this.at];
    if (first === "[") return this.#list(depth);
    if (first === "{") return this.#map(depth);
    if (first === '"' || first === "'") return this.#quoted(first);
    return this.#plain();
  }

  #list(depth: number): Read {
    const items: YamlValue[] = [];
    for (this.at++; ; ) {
      this.#skip();
      if (this.#takes("]")) return items;
      const item = this.value(depth + 1);
      if (isFault(item)) return item;
      items.push(item);
      const next = this.#separator("]");
      if (next !== undefined) return next === "end" ? items : { fault: next };
    }
  }

  #map(depth: number): Read {
    const map = new Map<string, YamlValue>();
    for (this.at++; ; ) {
      this.#skip();
      if (this.#takes("}")) return map;
      const key = this.value(depth + 1);
      if (isFault(key)) return key;
      if (typeof key !== "string") return { fault: "wrong" };
      this.#skip();
      const value = this.#takes(":") ? this.value(depth + 1) : null;
      if (isFault(value)) return value;
      map.set(key, value);
      const next = this.#separator("}");
      if (next !== undefined) return next === "end" ? map : { fault: next };
    }
  }

  /** Undefined after a comma. */
  #separator(close: string): "end" | "open" | "wrong" | undefined {
    this.#skip();
    if (this.#takes(",")) return undefined;
    if (this.#takes(close)) return "end";
    return this.at >= this.#text.length ? "open" : "wrong";
  }

  #quoted(mark: string): Read {
    const pattern = mark === '"' ? /"((?:[^"\\]|\\[\s\S])*)"/y : /'((?:[^']|'')*)'/y;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text);
    if (match === null) return { fault: "open" };
    this.at = pattern.lastIndex;
    const inner = match[1] ?? "";
    return mark === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\/])/g, "$1").replaceAll("\\n", "\n");
  }

  #plain(): Read {
    const pattern = /(?:[^,[\]{}:\n]|:(?=[^\s,[\]{}]))*/y;
    pattern.lastIndex = this.at;
    const text = (pattern.exec(this.#text)?.[0] ?? "").trim();
    this.at = pattern.lastIndex;
    if (text !== "") return text;
    return this.at >= this.#text.length
      ? { fault: "open" }
      : /[,:]/.test(this.#text[this.at] ?? "")
        ? null
        : { fault: "wrong" };
  }

  #skip(): void {
    const space = /(?:\s|#[^\n]*\n)*/y;
    space.lastIndex = this.at;
    space.exec(this.#text);
    this.at = space.lastIndex;
  }

  #takes(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

function isFault(value: Read): value is Fault {
  return typeof value === "object" && value !== null && "fault" in value;
}
