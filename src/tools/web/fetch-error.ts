/** Explains why a page could not be fetched, in words for the model. */
export class FetchError extends Error {}
