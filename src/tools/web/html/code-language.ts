import { type Element, hasClass, isElement } from "./element.js";

const NAMED =
  /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s?|sourceCode\s)([\w+#-]{1,30})/;
const NO_LANGUAGE = /^(?:none|text|txt|plain|plaintext|default|notranslate)$/i;

/** The language of a `<pre>`, from the class names that highlighters leave on it, on its code or on its parent. */
export function codeLanguage(pre: Element, around: readonly Element[]): string {
  const code = pre.children.filter(isElement).find(({ name }) => name === "code");
  for (const element of [code, pre, ...around.slice(-2).reverse()]) {
    const language = element === undefined ? undefined : languageOf(element);
    if (language !== undefined) return NO_LANGUAGE.test(language) ? "" : language.toLowerCase();
  }
  return "";
}

function languageOf(element: Element): string | undefined {
  const { attributes } = element;
  const written = attributes.get("data-lang") ?? attributes.get("data-language") ?? attributes.get("lang-name");
  if (written !== undefined && /^[\w+#-]{1,30}$/.test(written)) return written;
  return hasClass(element, NAMED) ? NAMED.exec(attributes.get("class") ?? "")?.[1] : undefined;
}
