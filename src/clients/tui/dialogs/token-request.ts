/**
 * A program asks for a token: what it may do, the code, and answers of one key. The code is shown nowhere else, so that it is not in the
 * scrollback.
 */
import { safeLine } from "../../../base/terminal-text.js";
import { truncateText, wrapText } from "../../../base/text-width.js";
import type { Theme } from "../theme.js";
import type { Dialog, DialogSize, DialogView } from "./dialog.js";
import type { PermissionState } from "./permission.js";

export interface TokenRequest {
  readonly request: string;
  readonly asks: string;
  readonly code: string;
  /** When the code is no longer valid, on the monotonic clock. */
  readonly until: number;
}

/** `later`: the code stays valid. */
export type TokenAnswer = "refuse" | "later";

const KEYS: Readonly<Record<string, TokenAnswer>> = { n: "refuse", escape: "later", enter: "later" };

export function tokenDialog({ asks, code }: TokenRequest): Dialog<PermissionState, TokenAnswer> {
  return {
    name: "token",
    first: { scroll: 0 },
    onKey: (state, { id = "" }) => {
      const answer = Object.hasOwn(KEYS, id) ? KEYS[id] : undefined;
      return answer === undefined ? { state } : { done: answer };
    },
    view: (_state, size, theme) => view({ asks, code }, size, theme),
  };
}

function view({ asks, code }: Pick<TokenRequest, "asks" | "code">, { columns }: DialogSize, theme: Theme): DialogView {
  const bar = "│ ";
  const quoted = wrapText(safeLine(asks), Math.max(1, columns - bar.length)).map((line) => theme.warning(bar) + line);
  const choice = (key: string, label: string) =>
    `${theme.key(`[${key}]`)} ${truncateText(label, Math.max(1, columns - key.length - 3))}`;
  return {
    lines: [
      theme.warning(truncateText("Give a program a token?", columns)),
      ...quoted,
      `${truncateText("Code:", columns)} ${theme.strong(safeLine(code))}`,
      ...wrapText("Type it there only if you asked for this.", columns).map((line) => theme.dim(line)),
      choice("c", "copy the code"),
      choice("n", "refuse"),
      choice("esc", "close this; the code is valid for a minute"),
    ],
  };
}
