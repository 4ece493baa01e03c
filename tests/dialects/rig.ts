/** A gateway in front of one scripted upstream that speaks a dialect, and how that upstream sends an answer. */
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import type { DialectFixture, Said, WriteJson } from './dialect-fixture.js';

export const pin = 'acme/meta/llama-3.3-70b/defra';

export interface DialectRig {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  stop(): Promise<void>;
}

export async function startDialect(fixture: DialectFixture, config: YamlObject = {}): Promise<DialectRig> {
  const upstream = await startUpstream();
  const { dialect, basePath, upstreamModel } = fixture;
  const catalogue = catalogueOf(
    { acme: upstream.url },
    {
      providers: { acme: { dialect, base_url: `${upstream.url}${basePath}` } },
      route: { upstream_model: upstreamModel },
    },
  );
  const gateway = await startGateway({ catalogue, config });
  return {
    gateway,
    upstream,
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

export const plainJson: WriteJson = (value) => JSON.stringify(value);

/** Everything beyond ASCII as escapes: the same value in other bytes. */
export const escapedJson: WriteJson = (value) =>
  JSON.stringify(value).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function playWhole(fixture: DialectFixture, said: Said, write: WriteJson = plainJson): Script {
  return json(write(fixture.whole(said)));
}

export interface StreamPlay {
  write?: WriteJson;
  /** Stop after as many frames, and come to this ending. */
  after?: number;
  ending?: 'end' | 'fin' | 'reset' | 'hang' | 'error';
}

/** One HTTP chunk and one write a frame. */
export function playStream(fixture: DialectFixture, said: Said, play: StreamPlay = {}): Script {
  const frames = fixture.frames(said, play.write ?? plainJson);
  return async (exchange) => {
    await exchange.write(
      `HTTP/1.1 200 OK\r\ncontent-type: ${fixture.streamContentType}\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    for (const frame of frames.slice(0, play.after)) await exchange.writeChunk(frame);
    if (play.ending === 'hang') return exchange.closed;
    if (play.ending === 'fin' || play.ending === 'reset') {
      // Together with the last frame a reset may take it along.
      await exchange.sleep(20);
      return exchange.close(play.ending);
    }
    if (play.ending === 'error') await exchange.writeChunk(fixture.overloadedFrame);
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };
}
