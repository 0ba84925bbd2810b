/** Describes what the composer of the terminal client needs from the machine and the engine: history, drafts, images, an editor, completion. */
import type { Clock } from "../../base/clock.js";
import type { Variables } from "../../base/variables.js";
import { EngineCompletion } from "../../clients/sdk/completion/engine-completion.js";
import { CLIPBOARD } from "../../clients/tui/input/attachments.js";
import type { ImageAccess } from "../../clients/tui/input/composer.js";
import { DraftKeeper } from "../../clients/tui/input/draft-keeper.js";
import { InputHistory } from "../../clients/tui/input/history.js";
import type { TuiOptions } from "../../clients/tui/options.js";
import type { TuiTerminal } from "../../clients/tui/terminal/terminal.js";
import type { EngineClient } from "../../protocol/client.js";
import type { SessionId } from "../../protocol/ids.js";
import { roots } from "../../system/xdg-paths.js";
import { draftFile, historyFile } from "../input-files.js";

export interface ComposerPartsOptions {
  readonly client: EngineClient;
  readonly session: () => SessionId;
  readonly variables: Variables;
  readonly terminal: Pick<TuiTerminal, "lend">;
  readonly clock: Clock;
  /** The folder that the person works in. */
  readonly folder: string;
}

export function composerParts(options: ComposerPartsOptions): NonNullable<TuiOptions["composer"]> {
  const { client, session, variables, terminal, clock, folder } = options;
  const { state } = roots(variables);
  const history = new InputHistory({ storage: historyFile(state), folder, clock, redact });
  void history.load();
  const completion = new EngineCompletion({ client, session, clock });
  completion.start();
  return {
    history,
    drafts: new DraftKeeper({ storage: draftFile({ state, workspace: folder }), clock, redact }),
    images: imageAccess(client, session, variables),
    completion: completion.source,
    editText: async (text) => {
      const { editInEditor } = await import("../external-editor.js");
      return editInEditor(text, { variables, lend: (action) => terminal.lend(action) });
    },
  };
}

/** Loaded late: it is large, and the first prompt does not need it. */
async function redact(text: string): Promise<string> {
  return (await import("../../security/redact/redact.js")).redact(text);
}

/** Looks up the model each time, because the user may have switched to another one. */
function imageAccess(client: EngineClient, session: () => SessionId, variables: Variables): ImageAccess {
  return {
    read: async (path) => {
      const isPasted = path === CLIPBOARD;
      const [image, status] = await Promise.all([
        isPasted ? clipboardImage(variables) : droppedImage(path),
        client.query("GetStatus", {}, session()),
      ]);
      const isBlind = status.ok && status.answer.place?.images === false;
      if (typeof image !== "object" || !isBlind) return image;
      return `${status.answer.model} takes no images.${isPasted ? "" : " The path stays as text."}`;
    },
  };
}

async function clipboardImage(variables: Variables) {
  const { readClipboardImage } = await import("../clipboard-image.js");
  return readClipboardImage({ variables, platform: process.platform });
}

async function droppedImage(path: string) {
  const { readDroppedImage } = await import("../input-images.js");
  return readDroppedImage(path);
}
