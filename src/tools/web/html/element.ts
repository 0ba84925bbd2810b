/** A page as a tree, reduced to what its text needs. */
export type HtmlNode = string | Element;

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: HtmlNode[];
  /** A table, link or emphasis that holds more than running text. */
  rich: boolean;
}

export function isElement(node: HtmlNode): node is Element {
  return typeof node !== "string";
}

/** The text of a subtree, with line breaks. */
export function rawText(element: Element, isLeftOut: (child: Element) => boolean = () => false): string {
  let text = "";
  for (const child of element.children) {
    if (!isElement(child)) text += child;
    else if (child.name === "br") text += "\n";
    else if (!isLeftOut(child)) text += rawText(child, isLeftOut);
  }
  return text;
}

/** The rest of a budget of characters and elements after a subtree; negative if the subtree exceeds it. */
export function leftAfter(element: Element, budget: number): number {
  let left = budget;
  for (const child of element.children) {
    if (left < 0) break;
    left -= isElement(child) ? 1 : child.length;
    if (isElement(child)) left = leftAfter(child, left);
  }
  return left;
}

export function hasClass(element: Element, pattern: RegExp): boolean {
  return pattern.test(element.attributes.get("class") ?? "");
}
