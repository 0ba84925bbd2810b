/** Parts of a page that readers do not see or do not need. */
import { type Element, hasClass, isElement } from "./element.js";

const NO_TEXT = new Set(
  (
    "script style template svg canvas iframe object embed applet audio video map head title meta link select button textarea " +
    "datalist noembed noframes frameset rp progress meter"
  ).split(" "),
);
const FURNITURE_ROLES = new Set("navigation banner contentinfo search complementary menu menubar toolbar".split(" "));
const HIDING_STYLE =
  /display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden|opacity\s{0,9}:\s{0,9}0(?:\.0{0,9})?\s{0,9}(?:;|!|$)|font-size\s{0,9}:\s{0,9}0(?![.\d])/i;
/** Text for screen readers, numbers of lines, and the signs that copy a link to a heading. */
const HIDING_CLASS =
  /(?:^|\s)(?:sr-only|visually-hidden|screen-reader-text|headerlink|hash-link|linenos?|line-numbers-rows|gutter|blob-num|mw-editsection|noprint)(?:\s|$)/;

export function isUnseen(element: Element): boolean {
  const { name, attributes } = element;
  if (NO_TEXT.has(name)) return true;
  if (name === "input") return attributes.get("type")?.toLowerCase() !== "checkbox";
  if (name === "dialog" && !attributes.has("open")) return true;
  if (attributes.size === 0) return false;
  return (
    attributes.has("hidden") ||
    attributes.get("aria-hidden")?.toLowerCase() === "true" ||
    HIDING_STYLE.test(attributes.get("style") ?? "") ||
    hasClass(element, HIDING_CLASS)
  );
}

/** Menus, banners and footers of the site. Inside an article a header, footer or aside belongs to it. */
export function isFurniture(element: Element, place: "site" | "article"): boolean {
  const { name, attributes } = element;
  if (name === "nav") return true;
  if (place === "article") return attributes.get("role")?.toLowerCase() === "navigation";
  if (name === "footer" || name === "aside") return true;
  if (name === "header" || FURNITURE_ROLES.has(attributes.get("role")?.toLowerCase() ?? ""))
    return !hasHeading(element);
  return false;
}

function hasHeading(element: Element): boolean {
  return element.children.some((child) => isElement(child) && (child.name === "h1" || hasHeading(child)));
}

export function isArticle({ name, attributes }: Element): boolean {
  return name === "main" || name === "article" || attributes.get("role")?.toLowerCase() === "main";
}
