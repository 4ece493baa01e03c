/** How identity providers are called. `src/app` connects it to the transport, with its proxies and its bounds in time and size. */

/** A request of the protocol library. */
interface ProviderRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Answers with the whole body, and follows no redirect. Throws ProviderCallFailed. */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<Response>;
