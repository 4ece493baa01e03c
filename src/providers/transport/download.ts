/** Downloads a small file, through the proxy of the environment where there is one. */

import { agentOf, shownAddress } from './small-answer.js';
import { addressOf } from './upstream-address.js';
import { proxiesOf } from './upstream-proxy.js';

const answerMs = 30_000;
const redirectsMax = 3;

/** Why there is no file. The message names the address. */
export class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed';
}

interface DownloadOptions {
  ended?: AbortSignal;
  /** How many redirects are followed. */
  redirects?: number;
  /** How long it may take in all. */
  ms?: number;
}

/** Throws DownloadFailed where the file is longer than `bytesMax`, does not come, or ends early. */
export async function download(
  url: string,
  bytesMax: number,
  env: Readonly<Record<string, string | undefined>>,
  { ended, redirects = redirectsMax, ms = 2 * answerMs }: DownloadOptions = {},
): Promise<Buffer> {
  // Loaded here, because a gateway that looks for no updates needs no HTTP client of this kind.
  const undici = await import('undici');
  let at = new URL(url);
  for (let hops = 0; ; hops++) {
    const dispatcher = agentOf(undici, proxiesOf(env)(addressOf(at.href)), answerMs);
    try {
      const timeout = AbortSignal.timeout(ms);
      const signal = ended ? AbortSignal.any([ended, timeout]) : timeout;
      const { statusCode, headers, body } = await undici.request(at, { dispatcher, signal });
      const target = statusCode >= 300 && statusCode < 400 ? headers.location : undefined;
      if (typeof target === 'string' && hops < redirects) {
        await body.dump();
        at = redirected(at, target);
        continue;
      }
      if (statusCode !== 200) throw new DownloadFailed(`${shownAddress(url)} answered ${statusCode}.`);
      return await readUpTo(body, bytesMax);
    } catch (error) {
      if (error instanceof DownloadFailed) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new DownloadFailed(`${shownAddress(url)} could not be downloaded (${code ?? message}). Try again later.`);
    } finally {
      await dispatcher.destroy();
    }
  }
}

function redirected(from: URL, target: string): URL {
  const to = URL.canParse(target, from.href) ? new URL(target, from.href) : null;
  if (to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:')) return to;
  throw new DownloadFailed(`${shownAddress(from.href)} leads to an address that is not https.`);
}

async function readUpTo(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > bytesMax) throw new DownloadFailed(`The file has more than ${bytesMax} bytes, so it is not read.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
