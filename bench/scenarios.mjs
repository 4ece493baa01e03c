/** The scenarios: the request of each, and the length of its warm-up and measurement, bounded in count and time. */

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

export const scenarios = {
  json: {
    what: 'closed loop, 32 connections, whole answers',
    body: (model) => body(model, '@json'),
    warm: { connections: 32, count: 15_000, seconds: 8 },
    run: { connections: 32, count: 6_000, seconds: 5 },
  },
  burst: {
    what: '16 streams, 103 frames sent in one write',
    body: (model) => body(model, '@burst', streamed),
    warm: { connections: 16, count: 1_000, seconds: 6, stream: true },
    run: { connections: 16, count: 500, seconds: 5, stream: true },
  },
  paced: {
    what: '50 streams, 103 frames, one each 5 ms',
    body: (model) => body(model, '@paced', streamed),
    warm: { connections: 50, count: 150, seconds: 4, stream: true },
    run: { connections: 50, count: 200, seconds: 5, stream: true },
  },
  max: {
    what: '400 streams, 103 frames, one each 5 ms',
    body: (model) => body(model, '@paced', streamed),
    warm: { connections: 400, count: 800, seconds: 5, stream: true },
    run: { connections: 400, count: 1_200, seconds: 6, stream: true },
  },
  rate: {
    what: 'open loop, 300 requests a second, whole answers',
    body: (model) => body(model, '@json'),
    warm: { connections: 64, count: 300, seconds: 3, rate: 300 },
    run: { connections: 64, count: 900, seconds: 5, rate: 300 },
  },
};
