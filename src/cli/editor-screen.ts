import { Writable } from "node:stream";

/** Describes where the editor draws; nothing while no line is edited. */
export class EditorScreen extends Writable {
  silent = true;
  readonly #onResize = () => this.emit("resize");

  constructor() {
    super({ decodeStrings: false });
    if (process.stderr.isTTY) process.stderr.on("resize", this.#onResize);
  }

  /** Each question has its own reader, whose listeners end with it. */
  close(): void {
    process.stderr.off("resize", this.#onResize);
  }

  get columns(): number {
    return process.stderr.columns;
  }

  override _write(piece: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.silent) process.stderr.write(piece);
    done();
  }
}
