/**
 * The time budgets at full length, once: an answer at 149 s is served, one at 151 s is the 504 of the first byte, and a
 * stream that drips past five minutes ends as stalled. Takes a little over five minutes.
 */
import { createServer } from 'node:http';
import { Agent, request } from 'undici';
import { admin, Checks, model, pause, startSoakGateway } from './soak-gateway.mjs';

const chunkOf = (content) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const answer = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'late' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});

const aborts = {};
const upstream = createServer({ requestTimeout: 0 }, async (req, res) => {
  let body = '';
  for await (const piece of req) body += piece;
  const [what, seconds] = JSON.parse(body).messages[0].content.split(' ');
  const startedAt = performance.now();
  res.on('close', () => {
    if (!res.writableFinished) aborts[`${what} ${seconds}`] = (performance.now() - startedAt) / 1000;
  });
  if (what === 'answer') {
    await pause(Number(seconds) * 1000);
    res.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  if (what === 'silent') return;
  while (!res.destroyed) {
    res.write(what === 'drip' ? chunkOf(' x') : ': waiting\n\n');
    await pause(20_000);
  }
});
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const gateway = await startSoakGateway({ upstreamUrl: `http://127.0.0.1:${upstream.address().port}` });
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

async function chat(content, stream) {
  const startedAt = performance.now();
  const response = await request(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${gateway.account.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
  });
  const text = await response.body.text();
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${content}${stream ? ', streamed' : ''}: ${response.statusCode} after ${seconds.toFixed(2)} s`);
  return { status: response.statusCode, text, seconds };
}

// The caller's time has its own connecting and waiting in it; the deadline itself is held to by the upstream's side below.
const near = (seconds, wanted) => Math.abs(seconds - wanted) <= 0.5;
/** The first count of a gateway's life loads the tokenizer; what it is for has been let go by then. */
const tokenizerSeconds = 2;
const expired = (budget, deadline) => `the ${budget} budget of ${deadline} expired`;
const [inTime, tooLate, silent, comments, dripping] = await Promise.all([
  chat('answer 149', false),
  chat('answer 151', false),
  chat('silent 0', true),
  chat('comments 0', true),
  chat('drip 0', true),
]);

const checks = new Checks();
checks.check('an answer at 149 s is a 200', inTime.status === 200 && near(inTime.seconds, 149));
checks.check(
  'an answer at 151 s is a 504 that names first-byte and 2m30s, at 150 s',
  tooLate.status === 504 && tooLate.text.includes(expired('first-byte', '2m30s')) && near(tooLate.seconds, 150),
);
checks.check('its upstream was let go at 150 s', near(aborts['answer 151'], 150));
checks.check(
  'a silent stream is a 504 that names first-byte and 30s, at 30 s',
  silent.status === 504 && silent.text.includes(expired('first-byte', '30s')) && near(silent.seconds, 30),
);
checks.check(
  'a stream of comments is the same: they are no first byte',
  comments.status === 504 && comments.text.includes(expired('first-byte', '30s')) && near(comments.seconds, 30),
);
checks.check(
  'a stream that drips past 300 s ends there as stalled, with [DONE]',
  dripping.status === 200 &&
    dripping.text.includes('"stream_end":"stalled"') &&
    dripping.text.endsWith('data: [DONE]\n\n') &&
    dripping.seconds >= 299.8 &&
    dripping.seconds <= 300.2 + tokenizerSeconds,
);
checks.check('its upstream was let go at 300 s', near(aborts['drip 0'], 300));
const ledger = await admin(gateway.url, 'GET', `/accounts/${gateway.account.id}/ledger`);
const billed = ledger.data.filter(({ kind }) => kind === 'usage').length;
checks.check('only the two that delivered something were billed', billed === 2);
checks.check('the gateway stops cleanly', (await gateway.stop()) === 0);
upstream.closeAllConnections();
upstream.close();
await agent.destroy();
checks.finish();
