import type { Variables } from "./variables.js";

/** Tells whether the locale can show more than ASCII. */
export function showsUtf8({ LC_ALL, LC_CTYPE, LANG }: Variables): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || /utf-?8/i.test(locale);
}
