/** Prepares what can wait until the user sees the prompt: a saved draft, the colours of the background. */
import type { Composer } from "../input/composer.js";
import type { TuiOptions } from "../options.js";
import type { Screen } from "../screen.js";

export interface Prepared {
  readonly composer: Composer;
  readonly screen: Screen;
  readonly hint: (text: string) => void;
  readonly setTheme: (name: string) => void;
}

export function prepareAfterPaint(options: TuiOptions, { composer, screen, hint, setTheme }: Prepared): void {
  void restoreDraft(options, { composer, hint });
  void options.light?.().then((isLight) => {
    const { theme } = screen;
    // The terminal knows its background better than a variable, which may come from another terminal.
    const isGuess = theme === options.theme && (theme.name === "dark" || theme.name === "light");
    if (isGuess && isLight !== undefined) setTheme(isLight ? "light" : "dark");
  });
}

/** Restores the draft of a client that crashed in this folder. */
async function restoreDraft(options: TuiOptions, { composer, hint }: Pick<Prepared, "composer" | "hint">) {
  const draft = await options.composer?.drafts?.load();
  if (draft === undefined || !composer.isEmpty) return;
  composer.restore(draft);
  hint("This draft was not sent. Ctrl-C clears it.");
}
