/** One dialog of the terminal client that fills the screen, without a conversation. */
import type { Variables } from "../../base/variables.js";
import type { Dialog } from "../../clients/tui/dialogs/dialog.js";
import { OpenDialog } from "../../clients/tui/dialogs/open-dialog.js";
import { openTerminal } from "../../clients/tui/terminal/open-terminal.js";
import { processIo } from "../../clients/tui/terminal/process-io.js";
import { clientThemes } from "./themes.js";

/** Undefined when the terminal is gone or a signal ends the program. */
export async function runDialog<S, R>(dialog: Dialog<S, R>, variables: Variables): Promise<R | undefined> {
  const terminal = openTerminal(processIo({ process, variables }));
  const { first: theme } = clientThemes(variables);
  const result = await new Promise<R | undefined>((resolve) => {
    const open = new OpenDialog(dialog, {
      size: () => ({ columns: terminal.columns, rows: terminal.rows }),
      theme: () => theme,
      fullScreen: () => terminal.openFullScreen(),
      done: (end) => resolve(end as R),
    });
    terminal.onInput((input) => {
      if (input.kind === "key" && input.id === "ctrl+z") terminal.suspend();
      else if (input.kind === "key") open.onKey(input);
      else if (input.kind === "closed") resolve(undefined);
      else open.repaint();
    });
  });
  await terminal.close();
  return result;
}
