import { describe, expect, it } from "vitest";
import { ContextWindow } from "./context-window.js";
import { contextThatFits, readCacheShape } from "./memory.js";

describe("[M20] how much context a local model is given", () => {
  it("grows in doublings and never shrinks", () => {
    const window = new ContextWindow({ model: 131_072 });
    expect([100, 5000, 9000, 300, 8193].map((needed) => window.sizeFor(needed))).toEqual([
      4096, 8192, 16_384, 16_384, 16_384,
    ]);
  });

  it("stays within what the model, the memory and the settings allow, and knows which", () => {
    const model = new ContextWindow({ model: 40_960, memory: 100_000 });
    expect([model.sizeFor(500_000), model.limit]).toEqual([40_960, "model"]);
    const memory = new ContextWindow({ model: 131_072, memory: 20_000 });
    expect([memory.sizeFor(500_000), memory.limit]).toEqual([20_000, "memory"]);
    const setting = new ContextWindow({ model: 131_072, memory: 20_000, fixed: 65_536 });
    expect([setting.sizeFor(10), setting.sizeFor(500_000), setting.limit]).toEqual([65_536, 65_536, "setting"]);
    const beyond = new ContextWindow({ model: 8192, fixed: 65_536 });
    expect([beyond.sizeFor(10), beyond.limit]).toEqual([8192, "model"]);
    expect(new ContextWindow({ memory: -5 }).sizeFor(9000)).toBe(4096);
  });

  it("keeps what the model runs with, unless that is not enough", () => {
    const running = new ContextWindow({ loaded: 32_768 });
    expect([running.sizeFor(900), running.sizeFor(40_000)]).toEqual([32_768, 65_536]);
    expect(new ContextWindow({ loaded: 4096 }).sizeFor(5000)).toBe(8192);
    expect(new ContextWindow({ loaded: 32_768, memory: 8192 }).sizeFor(5000)).toBe(32_768);
  });
});

describe("[M20] the memory a context takes", () => {
  const LLAMA = {
    "general.architecture": "llama",
    "llama.block_count": 32,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.embedding_length": 4096,
  };

  it("follows from layers, heads and their widths", () => {
    expect(readCacheShape(LLAMA)).toEqual({ bytesPerToken: 131_072 });
    expect(readCacheShape({ ...LLAMA, "llama.attention.key_length": 256, "llama.attention.value_length": 64 })).toEqual(
      { bytesPerToken: 32 * 8 * 320 * 2 },
    );
    expect(readCacheShape({ ...LLAMA, "llama.attention.head_count_kv": [8, 0, 0, 8] })).toEqual({
      bytesPerToken: 16 * 256 * 2,
    });
    expect(readCacheShape({ ...LLAMA, "llama.attention.sliding_window": 1024 })).toEqual({ bytesPerToken: 65_536 });
    expect(
      readCacheShape({
        "general.architecture": "deepseek2",
        "deepseek2.block_count": 60,
        "deepseek2.attention.kv_lora_rank": 512,
        "deepseek2.rope.dimension_count": 64,
      }),
    ).toEqual({ bytesPerToken: 60 * 576 * 2 });
  });

  it("is unknown when the model does not tell enough", () => {
    expect(readCacheShape({})).toBeUndefined();
    expect(readCacheShape({ "general.architecture": "llama", "llama.block_count": 32 })).toBeUndefined();
  });

  it("leaves room for the model and the machine", () => {
    const cache = { bytesPerToken: 131_072 };
    expect(contextThatFits({ availableBytes: 10e9, weightBytes: 5e9, cache })).toBe(30_517);
    expect(contextThatFits({ availableBytes: 4e9, weightBytes: 5e9, cache })).toBeLessThan(0);
  });
});
