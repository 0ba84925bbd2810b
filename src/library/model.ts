/** The model of a library harness. Opened with the first request: until then neither the wire nor the network is loaded. */
import { systemClock } from "../base/clock.js";
import type { Model, ModelEvent, ModelRequest, RequestContext } from "../engine/ports.js";
import { failure } from "../protocol/errors.js";
import { createHttpModel, type Endpoint } from "../providers/http-model.js";
import { findProvider, loadWire } from "../providers/named.js";
import type { RunCassette } from "../runtime/parts/cassette.js";
import { createHttpClient, type HttpClient } from "../system/http-client.js";
import type { ResolvedConfig } from "./config.js";

export class LibraryModel implements Model {
  readonly provider: string;
  readonly family: string;
  readonly model: string;
  readonly #config: ResolvedConfig;
  readonly #onRequest: () => void;
  #opened: Promise<Model> | undefined;
  #cassette: RunCassette | undefined;

  constructor(config: ResolvedConfig, onRequest: () => void) {
    this.provider = config.endpoint.provider;
    this.family = config.endpoint.family;
    this.model = config.model;
    this.#config = config;
    this.#onRequest = onRequest;
  }

  async *stream(request: ModelRequest, context: RequestContext): AsyncGenerator<readonly ModelEvent[]> {
    this.#onRequest();
    this.#opened ??= this.#open();
    yield* (await this.#opened).stream(request, context);
  }

  cassetteReport(): string | undefined {
    const conclusion = this.#cassette?.conclude();
    return conclusion?.failed ? conclusion.text : undefined;
  }

  async #open(): Promise<Model> {
    const { wire, model } = this.#config;
    try {
      const http = await this.#client();
      const hears = async () => {
        const { Catalogue } = await import("../providers/catalogue/catalogue.js");
        return (await new Catalogue().facts(this)).abilities.audio;
      };
      return createHttpModel({ wire: await loadWire(wire), endpoint: this.#endpoint(), model, http, hears });
    } catch (error) {
      const { CassetteError } = await import("../providers/cassette/tape.js");
      if (!(error instanceof CassetteError)) throw error;
      const cause = failure("ConfigurationInvalid", { detail: error.message });
      return {
        ...this,
        async *stream() {
          yield [{ type: "failure", failure: cause }];
        },
      };
    }
  }

  /** A replay uses the recorded address, because requests depend on it. */
  #endpoint(): Endpoint {
    const { endpoint } = this.#config;
    const recorded = this.#cassette?.registry.variables?.[this.#addressName()];
    return recorded === undefined ? endpoint : { ...endpoint, baseUrl: recorded };
  }

  #addressName(): string {
    return findProvider(this.provider)?.baseUrlName ?? "";
  }

  async #client(): Promise<HttpClient> {
    const { cassette, endpoint, network: plan } = this.#config;
    const network = plan && (async () => (await import("../system/network/network.js")).openNetwork(plan));
    if (cassette === undefined) return createHttpClient({ network });
    const { openCassette } = await import("../runtime/parts/cassette.js");
    const places = [{ name: "workspace", path: process.cwd() }];
    const variables = { [this.#addressName()]: endpoint.baseUrl };
    this.#cassette = openCassette(cassette, { variables, places, clock: systemClock, network });
    this.#cassette.begins(this);
    return this.#cassette.http;
  }
}
