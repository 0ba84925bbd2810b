/** `/record` for one run: the Markdown recorder, loaded with the first command. */

import { type Command, type CommandResult, refuse } from "../../feature/command.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { MarkdownRecorder } from "../../sessions/recorder/markdown-recorder.js";
import { RECORD_START, RECORD_STATUS, RECORD_STOP } from "../commands/specs.js";

export interface RunRecordingOptions {
  readonly workspace: string;
  readonly model: () => string;
  readonly wall: () => number;
  readonly notify: (message: string) => void;
  /** Tells why a file may not be written. */
  readonly refusalOf: (path: string) => Promise<string | undefined>;
}

/** Stands for the file that the recorder names itself. */
const UNNAMED = "oxbow-session.md";

export class RunRecording {
  readonly #options: RunRecordingOptions;
  #recorder: MarkdownRecorder | undefined;

  constructor(options: RunRecordingOptions) {
    this.#options = options;
  }

  commands(): readonly Command[] {
    return [
      { ...RECORD_START, run: (args) => this.start(args.text("FILE")) },
      { ...RECORD_STOP, run: () => this.stop() },
      {
        ...RECORD_STATUS,
        run: () => ({ text: this.status(), value: { recording: this.#recorder?.status().recording ?? false } }),
      },
    ];
  }

  take(event: Envelope): void {
    this.#recorder?.take(event);
  }

  async start(file: string | undefined): Promise<CommandResult> {
    const refusal = await this.#options.refusalOf(file ?? UNNAMED);
    if (refusal !== undefined) return refuse(refusal);
    const { RecordingRefused } = await import("../../sessions/recorder/markdown-recorder.js");
    try {
      const started = await (await this.#open()).start(file);
      return {
        text: `${started.continued ? "Recording again" : "Recording"} to ${started.file} from the next turn on.`,
        value: { recording: true, file: started.file },
      };
    } catch (error) {
      if (!(error instanceof RecordingRefused)) throw error;
      return refuse(error.message);
    }
  }

  async stop(): Promise<CommandResult> {
    const recorded = await this.#recorder?.stop();
    if (recorded === undefined) return { text: "Not recording.", value: { recording: false } };
    const turns = recorded.turns === 1 ? "1 turn" : `${recorded.turns} turns`;
    return {
      text: recorded.problem ?? `Recorded ${turns} to ${recorded.file}.`,
      value: { recording: false, file: recorded.file, turns: recorded.turns },
    };
  }

  /** Continues the file of another run of this program. */
  async takeOver(before: RunRecording): Promise<void> {
    const status = before.#recorder?.status();
    if (!status?.recording) return;
    await before.stop();
    const started = await this.start(status.file);
    if ("failure" in started) this.#options.notify(started.failure.message);
  }

  status(): string {
    const status = this.#recorder?.status();
    if (status === undefined || !status.recording) return status?.problem ?? "not recording";
    return `recording to ${status.file}`;
  }

  async #open(): Promise<MarkdownRecorder> {
    if (this.#recorder !== undefined) return this.#recorder;
    const [{ MarkdownRecorder }, { redact }] = await Promise.all([
      import("../../sessions/recorder/markdown-recorder.js"),
      import("../../security/redact/redact.js"),
    ]);
    const { workspace, model, wall, notify } = this.#options;
    const recorder = new MarkdownRecorder({ workspace, model, redact, wall, onProblem: notify });
    this.#recorder = recorder;
    return recorder;
  }
}
