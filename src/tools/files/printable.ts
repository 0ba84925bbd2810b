/**
 * Names on one line. A file name may hold newlines, escape sequences and direction marks; in a listing those could fake
 * other lines, so such a name is shown as a JSON string, and the model can send it back in that form.
 */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const UNSAFE_ALL = new RegExp(UNSAFE, "g");

export function printable(name: string): string {
  if (!UNSAFE.test(name)) return name;
  return JSON.stringify(name).replace(UNSAFE_ALL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A resolved place for messages. */
export function shown({ display }: { readonly display: string }): string {
  return printable(display);
}
