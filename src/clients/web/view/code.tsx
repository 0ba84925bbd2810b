/** Code with its colours and a button that copies it. The highlighter is loaded with the first code. */
import { signal } from "@preact/signals";
import { memo } from "preact/compat";
import type { CodeHighlighter } from "../../sdk/shown/highlight.js";
import { CopyButton } from "./controls.js";

export type HighlighterFor = (language: string) => CodeHighlighter;

const library = signal<HighlighterFor | undefined>(undefined);
let isAsked = false;

/** Undefined until it is loaded; who asks in a component is drawn again then. */
export function highlighterFor(): HighlighterFor | undefined {
  if (!isAsked) {
    isAsked = true;
    void import("../../sdk/shown/highlight.js").then(({ highlighter }) => {
      library.value = highlighter;
    });
  }
  return library.value;
}

/** Longer code is shown without colours. */
const MOST_COLOURED = 2000;

export const Code = memo(({ text, language }: { readonly text: string; readonly language: string }) => (
  <figure class="code">
    <figcaption>
      <span>{language.split(/\s/)[0] ?? ""}</span>
      <CopyButton text={() => text} />
    </figcaption>
    <pre tabIndex={0}>
      <code>
        <CodeLines text={text} language={language} />
      </code>
    </pre>
  </figure>
));

export function CodeLines({ text, language }: { readonly text: string; readonly language: string }) {
  const lines = text.split("\n");
  const make = lines.length > MOST_COLOURED ? undefined : highlighterFor();
  if (make === undefined) return <>{text}</>;
  let state = make(language.split(/\s/)[0]?.toLowerCase() ?? "");
  return (
    <>
      {lines.map((line, index) => {
        const { spans, next } = state.line(line);
        state = next;
        return (
          <span key={index}>
            {spans.map(({ text: part, roles }, at) =>
              roles[0] === undefined ? (
                part
              ) : (
                <span key={at} class={`c-${roles[0]}`}>
                  {part}
                </span>
              ),
            )}
            {index < lines.length - 1 ? "\n" : ""}
          </span>
        );
      })}
    </>
  );
}
