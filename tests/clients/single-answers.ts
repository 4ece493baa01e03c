/** Answers of one step around any client: a JSON object after a schema, a failure, and a stream that never ends by itself. */
import { expect } from 'vitest';
import { figures } from '../dialects/cases.js';
import type { FailureMeaning, Said } from '../dialects/dialect-fixture.js';
import { plainJson, playStream, playWhole } from '../dialects/rig.js';
import type { Json } from '../support/client.js';
import { json } from '../support/scripted-upstream.js';
import type { DialectGateway, Spoken } from './dialect-gateway.js';
import { expectKnownMembers } from './heard.js';

/** The next answer is this object as text, in pieces where it is streamed. */
export function playAnswer({ upstream }: DialectGateway, { fixture }: Spoken, said: Json, streamed: boolean): void {
  const text = JSON.stringify(said);
  const play = streamed ? playStream : playWhole;
  upstream.enqueue(play(fixture, { text: [text.slice(0, 9), text.slice(9)], finish: 'stop', usage: figures() }));
}

/** Every call had a schema of these properties, and nothing that its dialect does not know. */
export function expectSchema({ upstream }: DialectGateway, { fixture }: Spoken, properties: string[]): void {
  expect(upstream.calls.length).toBeGreaterThan(0);
  for (const call of upstream.calls) {
    const body = call.json as Json;
    const schema = fixture.meaningOf(body).schema as { properties: object };
    expect(Object.keys(schema.properties)).toEqual(properties);
    expectKnownMembers(fixture.dialect, body);
  }
}

export function failWith({ upstream }: DialectGateway, { fixture }: Spoken, meaning: FailureMeaning): void {
  const { status, body, headers = {} } = fixture.failures[meaning];
  upstream.reply(json(body, { status, headers }));
}

const unfinished: Said = { text: ['One', ' two', ' three'], finish: 'stop', usage: figures() };

/** Says `One two`, and then nothing. */
export function playUnfinished({ upstream }: DialectGateway, { fixture }: Spoken): void {
  const frames = fixture.frames(unfinished, plainJson);
  const after = frames.findIndex((frame) => Buffer.from(frame as string).includes('" two"')) + 1;
  upstream.reply(playStream(fixture, unfinished, { after, ending: 'hang' }));
}

/** The upstream hears of it within 100 ms, with some patience for a busy machine; the record follows the count of the tokens. */
export async function expectAborted({ gateway, upstream, account }: DialectGateway): Promise<void> {
  await upstream.waitFor(() => upstream.calls[0]!.aborted);
  const history = async () => (await gateway.call('GET', '/v1/generations', undefined, { key: account.key })).json.data;
  await expect.poll(history, { timeout: 60_000 }).toMatchObject([{ streamed: true, stream_end: 'client_closed' }]);
}
