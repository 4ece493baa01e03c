/**
 * Calls a server that is not a provider of models, such as an identity provider: through the proxy of the environment where there is one,
 * without following redirects, and within bounds of time and size.
 */
import { addressOf } from './upstream-address.js';
import { type ProxyChoice, proxiesOf, type UpstreamProxy } from './upstream-proxy.js';

/** The server did not answer, or not within the bounds. The message names the address without its query. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
}

interface SmallCall {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

interface Bounds {
  /** For the whole call. */
  readonly timeMs: number;
  readonly bytesMax: number;
}

type SmallAnswer = (url: string, call: SmallCall) => Promise<Response>;

export function smallAnswers(env: Readonly<Record<string, string | undefined>>, bounds: Bounds): SmallAnswer {
  let proxies: ProxyChoice | undefined;
  return async (url, { method = 'GET', headers = {}, body, signal }) => {
    // Loaded at the first call, because most gateways need no HTTP client of this kind.
    const undici = await import('undici');
    proxies ??= proxiesOf(env);
    const dispatcher = agentOf(undici, proxies(addressOf(url)), bounds.timeMs);
    const limit = AbortSignal.timeout(bounds.timeMs);
    try {
      const answer = await undici.request(url, {
        ...{ dispatcher, method: method as 'GET', headers, signal: signal ? AbortSignal.any([signal, limit]) : limit },
        body: body == null ? null : String(body),
      });
      const bytes = await readUpTo(answer.body, bounds.bytesMax, url);
      const isEmpty = answer.statusCode === 204 || answer.statusCode === 304;
      return new Response(isEmpty ? null : new Uint8Array(bytes), {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
      });
    } catch (error) {
      if (error instanceof CallFailed) throw error;
      const { code, name, message } = error as NodeJS.ErrnoException;
      const reason = limit.aborted ? `no answer within ${bounds.timeMs / 1000} s` : (code ?? `${name}: ${message}`);
      throw new CallFailed(`${shownAddress(url)} could not be called (${reason}).`);
    } finally {
      // What is left of a slow answer ends with its connection.
      void dispatcher.destroy().catch(() => {});
    }
  };
}

/** One for each call: they are rare, and what a server does with a connection then concerns no other call. */
export function agentOf({ Agent, ProxyAgent }: typeof import('undici'), proxy: UpstreamProxy | null, timeMs: number) {
  const times = { connectTimeout: timeMs, headersTimeout: timeMs, bodyTimeout: timeMs };
  if (!proxy) return new Agent(times);
  const { secure, host, port, authorization } = proxy;
  const uri = `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new ProxyAgent({ ...times, uri, ...(authorization && { token: authorization }) });
}

async function readUpTo(body: AsyncIterable<Buffer>, bytesMax: number, url: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw new CallFailed(`${shownAddress(url)} answered with more than ${bytesMax} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Without credentials and query, which may be secrets. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, 200);
}
