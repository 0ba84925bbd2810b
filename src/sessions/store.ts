/** The interface of a store. It lies in `base`, so that the suite that every store must pass (testkit/conformance) shares it. */
export * from "../base/session-store.js";
export * from "../base/store-error.js";
