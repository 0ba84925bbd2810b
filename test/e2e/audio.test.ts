import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { audioType } from "../../src/cli/input-audio.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, sampleKey, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function mockModel(script: string): Promise<MockModel> {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return mock;
}

/** The head of a WAV file, and enough behind it that looks like anything, also like a key. */
function sound(): Buffer {
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVEfmt "), Buffer.from(sampleKey().repeat(300))]);
}
const DATA = sound().toString("base64");

describe("--audio", () => {
  verifies(
    ["M1", "S1", "S4", "S6"],
    "goes to OpenAI and Gemini, and is stored and there again after a resume",
    async () => {
      const mock = await mockModel("reply times=any\n  text: A bell.\n");
      const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
      // The name says nothing: the bytes do.
      await writeFile(join(cwd, "bell.txt"), sound());
      const env = {
        ...providerEnvironment("openai", mock.url),
        ...providerEnvironment("gemini", mock.url),
        ...providerEnvironment("anthropic", mock.url),
        OXBOW_HOME: home,
      };
      const run = (...args: readonly string[]) => oxbow(["run", ...args], { env, cwd });
      const first = await run("What is it?", "--audio", "bell.txt", "--model", "openai:gpt-audio", "--stream-events");
      expect(first, first.stderr).toMatchObject({ code: 0 });
      const wav = { type: "audio", media_type: "audio/wav", data: DATA };
      expect(envelopes(first.stdout)[0]?.payload).toMatchObject({ input: [wav, { type: "text" }] });
      const body = (index: number) => JSON.stringify(mock.requests[index]?.body);
      expect(body(0)).toContain(`{"type":"input_audio","input_audio":{"data":"${DATA}","format":"wav"}}`);
      await run("And now?", "--continue", "--model", "gemini:gemini-2.5-flash");
      expect(body(1)).toContain(`{"inlineData":{"mimeType":"audio/wav","data":"${DATA}"}}`);
      await run("And you?", "--continue", "--model", "anthropic:claude-haiku-4-5");
      expect(body(2)).toContain("(Audio was here. You cannot hear it: anthropic takes no audio.)");
      expect(body(2)).not.toContain(DATA);
      const { session = "" } = envelopes(first.stdout)[0] ?? {};
      expect((await oxbow(["session", "export", session], { env, cwd })).stdout).toContain(DATA);
      const markdown = await oxbow(["session", "export", session, "--format", "markdown"], { env, cwd });
      expect(markdown.stdout).toContain("audio/wav");
      expect(markdown.stdout).not.toContain(DATA);
    },
  );

  verifies(["M1", "S7"], "is in the files of a session that is stored as Markdown, and read from there", async () => {
    const mock = await mockModel("reply times=any\n  text: A bell.\n");
    const [home, cwd] = [await temporaryFolder(), await temporaryFolder()];
    await writeFile(join(cwd, "bell.wav"), sound());
    const env = { ...providerEnvironment("openai", mock.url), OXBOW_HOME: home };
    const flags = ["--store", `files:${join(cwd, "log")}`, "--model", "openai:gpt-audio"];
    const first = await oxbow(["run", "What?", "--audio", "bell.wav", "--output-format", "json", ...flags], {
      env,
      cwd,
    });
    const { session } = JSON.parse(first.stdout) as { session: string };
    const input = await readFile(join(cwd, "log", session, "messages", "0001-user.md"), "utf8");
    expect(input).toContain(`\`\`\`audio type=audio/wav\n${DATA}\n\`\`\``);
    await oxbow(["run", "And?", "--continue", ...flags], { env, cwd });
    expect(JSON.stringify(mock.requests[1]?.body)).toContain(DATA);
  });

  const refused: readonly (readonly [string, string, string])[] = [
    ["anthropic:claude-haiku-4-5", "claude-haiku-4-5", "anthropic takes no audio"],
    ["openai-responses:gpt-5", "gpt-5", "openai-responses takes no audio"],
    ["openai:gpt-5", "gpt-5", "this model takes no audio"],
    ["ollama:some", "some", "ollama takes no audio"],
    ["offline", "offline", "offline takes no audio"],
  ];
  for (const [model, name, why] of refused) {
    verifies(["M1", "O5"], `is refused for ${model} before anything is sent`, async () => {
      const mock = await mockModel("model some capabilities=completion,tools\nmodel gpt-5\nreply\n  text: never\n");
      const cwd = await temporaryFolder();
      await writeFile(join(cwd, "bell.wav"), sound());
      // The catalogue tells about the service itself, so the service has its own address here.
      const env: Record<string, string> =
        model === "openai:gpt-5"
          ? { OPENAI_API_KEY: sampleKey(), HTTPS_PROXY: mock.url, HTTP_PROXY: mock.url }
          : {
              ...providerEnvironment("openai-responses", mock.url),
              ...providerEnvironment("anthropic", mock.url),
              ...providerEnvironment("ollama", mock.url),
              OXBOW_PROVIDER: "",
            };
      const { code, stderr } = await oxbow(["run", "What?", "--audio", "bell.wav", "--model", model], { env, cwd });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(`${name} cannot hear the audio: ${why}.`),
      });
      const calls = mock.requests.filter(({ body }) => JSON.stringify(body ?? {}).includes("messages"));
      expect(calls).toEqual([]);
    });
  }

  verifies(["M1"], "of a format that the provider does not take is refused with those that it takes", async () => {
    const mock = await mockModel("reply\n  text: never\n");
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "a.flac"), "fLaC0000");
    const env = providerEnvironment("openai", mock.url);
    const args = ["run", "What?", "--audio", "a.flac", "--model", "openai:gpt-audio"];
    expect((await oxbow(args, { env, cwd })).stderr).toContain("does not take audio/flac. It takes wav, mp3: convert");
    const none = await oxbow(["run", "What?", "--audio", "none.wav"], { env, cwd });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("--audio: cannot read none.wav")]);
    await writeFile(join(cwd, "b.wav"), "text");
    const text = await oxbow(["run", "What?", "--audio", "b.wav"], { env, cwd });
    expect([text.code, text.stderr]).toEqual([2, expect.stringContaining("b.wav is not a WAV, MP3")]);
    expect(mock.requests).toEqual([]);
  });

  it.each([
    ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
    ["RIFF\0\0\0\0WEBPVP8 ", undefined],
    ["ID3\x04", "audio/mpeg"],
    ["\xff\xfb\x90", "audio/mpeg"],
    ["\xff\xf1\x50", "audio/aac"],
    ["\xff\xf9\x50", "audio/aac"],
    ["\xff\xd8\xff", undefined],
    ["OggS", "audio/ogg"],
    ["fLaC", "audio/flac"],
    ["FORM\0\0\0\0AIFF", "audio/aiff"],
    ["\0\0\0\x20ftypM4A ", "audio/mp4"],
    ["text", undefined],
  ])("knows %j by its bytes: %s", (bytes, type) => expect(audioType(Buffer.from(bytes, "latin1"))).toBe(type));
});
