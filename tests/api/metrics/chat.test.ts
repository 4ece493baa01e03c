import { expect, it } from 'vitest';
import { scrape, since } from '../../observability/scrape.js';
import { completion, json, sse, streamOf, usage } from '../../support/scripted-upstream.js';
import { registerPrompt } from '../../support/secrets.js';
import { ask, llama, messages, useGateway } from '../harness.js';

const bench = useGateway();
const endpoint = 'endpoint="POST /v1/chat/completions"';

/** What a scrape shows more after than before. */
async function addedBy(act: () => Promise<unknown>): Promise<Record<string, number>> {
  await bench.gateway.account();
  const before = await scrape(bench.gateway);
  await act();
  return since(before, await scrape(bench.gateway));
}

it('a whole answer counts once, with its route, its times, its tokens and its cost', async () => {
  bench.upstream.enqueue(json(completion({ usage: usage(1000, 50) })));
  const added = await addedBy(() => bench.gateway.chat(ask()));
  expect(added).toMatchObject({
    [`lodestone_requests_total{${endpoint},outcome="ok"}`]: 1,
    [`lodestone_served_total{route="${llama}",stream="false",end="complete"}`]: 1,
    [`lodestone_attempts_total{route="${llama}",outcome="served"}`]: 1,
    [`lodestone_attempt_first_byte_seconds_count{route="${llama}"}`]: 1,
    [`lodestone_attempt_duration_seconds_count{route="${llama}"}`]: 1,
    'lodestone_chat_duration_seconds_count{door="chat",stream="false",outcome="ok"}': 1,
    'lodestone_chat_first_byte_seconds_count{stream="false"}': 1,
    'lodestone_chat_overhead_seconds_count{stream="false"}': 1,
    [`lodestone_tokens_total{route="${llama}",kind="prompt"}`]: 1000,
    [`lodestone_tokens_total{route="${llama}",kind="completion"}`]: 50,
    [`lodestone_cost_usd_total{route="${llama}"}`]: expect.closeTo(0.00064, 12),
  });
  expect(added.lodestone_request_body_bytes_total).toBe(JSON.stringify(ask()).length);
  expect(Object.keys(added).filter((name) => name.startsWith('lodestone_errors_total'))).toEqual([]);
  expect(added.lodestone_running_chats ?? 0).toBe(0);
});

it('a stream that is cut is broken, not ok, and counts with how it ended', async () => {
  bench.upstream.enqueue(sse(streamOf(['Hel', 'lo']), { cutAfter: 2, cutWith: 'reset' }));
  const added = await addedBy(() => bench.gateway.stream(ask()));
  expect(added).toMatchObject({
    [`lodestone_requests_total{${endpoint},outcome="broken"}`]: 1,
    [`lodestone_served_total{route="${llama}",stream="true",end="cut"}`]: 1,
    [`lodestone_attempts_total{route="${llama}",outcome="cut"}`]: 1,
    'lodestone_chat_duration_seconds_count{door="chat",stream="true",outcome="broken"}': 1,
  });
  expect((await scrape(bench.gateway)).get('lodestone_open_streams')).toBe(0);
});

it('an open stream and a running chat are seen while they last', async () => {
  const frames = streamOf(['a', 'b', 'c', 'd']);
  bench.upstream.enqueue(sse(frames, { gapMs: 150 }));
  const streaming = bench.gateway.stream(ask());
  let most = 0;
  let running = 0;
  for (const end = performance.now() + 5_000; most === 0 && performance.now() < end; ) {
    const series = await scrape(bench.gateway);
    most = series.get('lodestone_open_streams') ?? 0;
    running = series.get('lodestone_running_chats') ?? 0;
  }
  expect([most, running]).toEqual([1, 1]);
  await streaming;
  expect((await scrape(bench.gateway)).get('lodestone_open_streams')).toBe(0);
});

it('a failure counts by the row of the error table and by what it meant on the route', async () => {
  bench.upstream.enqueue(json({ error: { message: 'overloaded' } }, { status: 529 }));
  const added = await addedBy(() => bench.gateway.chat(ask()));
  expect(added).toMatchObject({
    [`lodestone_requests_total{${endpoint},outcome="failed"}`]: 1,
    'lodestone_errors_total{condition="provider_error",code="provider_error",status="503"}': 1,
    'lodestone_chat_duration_seconds_count{door="chat",stream="false",outcome="failed"}': 1,
  });
  const attempts = Object.keys(added).filter((name) => name.startsWith('lodestone_attempts_total'));
  expect(attempts).toEqual([expect.stringMatching(/outcome="(capacity|server_error)"/)]);
});

it('a refusal counts by its row, and by no route', async () => {
  const added = await addedBy(async () => {
    await bench.gateway.chat(ask({ temperature: 9 }));
    await bench.gateway.chat(ask(), { key: null });
  });
  expect(added).toMatchObject({
    [`lodestone_requests_total{${endpoint},outcome="refused"}`]: 2,
    'lodestone_errors_total{condition="parameter_out_of_range",code="invalid_request_error",status="400"}': 1,
    'lodestone_errors_total{condition="authorization_missing",code="authentication_error",status="401"}': 1,
  });
  expect(Object.keys(added).join()).not.toContain('route=');
});

it('a caller that disconnects is client_closed', async () => {
  bench.upstream.enqueue(sse(streamOf(['a', 'b', 'c', 'd', 'e']), { gapMs: 50 }));
  const closed = `lodestone_requests_total{${endpoint},outcome="client_closed"}`;
  await bench.gateway.stream(ask(), { hangUpAfter: 2 });
  let count = 0;
  for (const end = performance.now() + 5_000; count === 0 && performance.now() < end; ) {
    count = (await scrape(bench.gateway)).get(closed) ?? 0;
  }
  expect(count).toBe(1);
});

it('nothing that a caller writes becomes a label, nor its key, its account or its prompt', async () => {
  const marker = 'marker-of-a-caller';
  registerPrompt(`the ${marker}`);
  const { accountId, key, keyId } = await bench.gateway.account();
  for (const model of [`acme/meta/${marker}`, `auto/${marker}/x`, `alias/${marker}`, `${marker}/a/b/c`, marker]) {
    await bench.gateway.chat({ model, messages: [{ role: 'user', content: `the ${marker}` }] });
  }
  await bench.gateway.call('GET', `/v1/aliases/${marker}`);
  await bench.gateway.call('GET', `/${marker}?${marker}`);
  await bench.gateway.chat(ask({ [marker]: marker }));
  const { text } = await scrape(bench.gateway);
  for (const secret of [marker, accountId, key, keyId, messages[0]!.content]) expect(text).not.toContain(secret);
});

it('names only metrics of the table, in a form that Prometheus reads', async () => {
  const { text } = await scrape(bench.gateway);
  expect(text).toMatch(/^(# (HELP|TYPE) [a-z0-9_]+ .+\n|[a-z0-9_]+(\{([a-z_]+="[^"\n]*",?)+\})? [0-9.e+-]+\n)+$/);
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name]) => name);
  expect(new Set(types).size).toBe(types.length);
  expect(text).toMatch(/^lodestone_journal_settled_total [1-9]/m);
  expect(text).toMatch(/^lodestone_upstream_connections\{state="idle"\} \d/m);
});
