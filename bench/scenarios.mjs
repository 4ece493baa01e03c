/** The loads: the request of each, and the length of its warm-up and measurement, bounded in count and time. */

const system =
  'You help a platform team. Answer in plain words and short paragraphs, name what each choice costs, and say so when you do not know. ' +
  'Where you show a command, say what each flag does. Stay under two hundred words unless you are asked for more.';

function body(model, marker, extra = {}) {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: `Why would a gateway stop calling a provider for a while? ${marker}` },
      {
        role: 'assistant',
        content: 'Because its last calls failed, and asking again at once would only make that worse.',
      },
      { role: 'user', content: 'And how does it find out that the provider is well again?' },
    ],
    temperature: 0.7,
    max_tokens: 400,
    ...extra,
  });
}

const streamed = { stream: true, stream_options: { include_usage: true } };
const whole = (model) => body(model, '@json');
const longText = Array.from({ length: 3_300 }, (_, i) => `paragraph-${i % 10}`)
  .join(' ')
  .slice(0, 32_000);

/** `unit` is what the CPU is divided by. The marker in a body tells the upstream how to answer. */
export const scenarios = {
  json: {
    what: 'closed loop, 32 connections, whole answers',
    unit: 'ok',
    body: whole,
    warm: { connections: 32, count: 15_000, seconds: 8 },
    run: { connections: 32, count: 6_000, seconds: 5 },
  },
  prompt: {
    what: 'closed loop, 32 connections, a prompt of 33 KB',
    unit: 'ok',
    body: (model) => body(model, longText),
    warm: { connections: 32, count: 3_000, seconds: 6 },
    run: { connections: 32, count: 1_500, seconds: 5 },
  },
  paced: {
    what: '50 streams, 103 frames, one each 5 ms',
    unit: 'frames',
    body: (model) => body(model, '@paced', streamed),
    warm: { connections: 50, count: 150, seconds: 4, stream: true },
    run: { connections: 50, count: 200, seconds: 5, stream: true },
  },
  streams: {
    what: '2,000 streams, one frame each 50 ms; gaps count once all of them run',
    unit: 'frames',
    body: (model) => body(model, '@calm', streamed),
    warm: { connections: 400, count: 400, seconds: 11, rate: 400, stream: true },
    run: { connections: 2_000, count: 2_000, seconds: 15, rate: 1_000, stream: true, gapsFromSeconds: 2.5 },
  },
  steady: {
    what: 'open loop, 300 requests a second, whole answers',
    unit: 'ok',
    body: whole,
    warm: { connections: 64, count: 600, seconds: 3, rate: 300 },
    run: { connections: 64, count: 900, seconds: 5, rate: 300 },
  },
  single: {
    what: 'closed loop, one connection, whole answers',
    unit: 'ok',
    body: whole,
    warm: { connections: 1, count: 6_000, seconds: 3 },
    run: { connections: 1, count: 4_000, seconds: 3 },
  },
};
