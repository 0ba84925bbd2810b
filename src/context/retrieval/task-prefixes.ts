/** Describes what some embedding models want before a text, so that questions and documents meet. A store keeps the prefixes that it began with. */

export interface TaskPrefixes {
  readonly document: string;
  readonly question: string;
}

const NONE: TaskPrefixes = { document: "", question: "" };
const RETRIEVAL = "Represent this sentence for searching relevant passages: ";

const KNOWN: readonly (readonly [RegExp, TaskPrefixes])[] = [
  [/nomic-embed/i, { document: "search_document: ", question: "search_query: " }],
  [/(^|[/-])e5-|multilingual-e5/i, { document: "passage: ", question: "query: " }],
  [/mxbai-embed|bge-(small|base|large)-en|snowflake-arctic-embed/i, { document: "", question: RETRIEVAL }],
  [/embeddinggemma/i, { document: "title: none | text: ", question: "task: search result | query: " }],
];

export function prefixesFor(model: string): TaskPrefixes {
  return KNOWN.find(([pattern]) => pattern.test(model))?.[1] ?? NONE;
}
