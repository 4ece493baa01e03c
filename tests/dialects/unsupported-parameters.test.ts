/** Parameters that the catalogue lists as unsupported: no dialect forwards them, and the request is served. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { anthropicFixture } from './anthropic.js';
import { azureFixture } from './azure.js';
import { bedrockFixture } from './bedrock.js';
import { cases } from './cases.js';
import { geminiFixture } from './gemini.js';
import { openAiFixture } from './openai.js';
import { plainJson, playWhole } from './rig.js';

const fixtures = [openAiFixture, azureFixture, anthropicFixture, geminiFixture, bedrockFixture];
const { said } = cases[0]!;
const sampling = { temperature: 0.5, top_p: 0.9, top_k: 40 };

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  const catalogue = catalogueOf(Object.fromEntries(fixtures.map(({ dialect }) => [`up-${dialect}`, upstream.url])), {
    providers: Object.fromEntries(
      fixtures.map(({ dialect, basePath }) => [`up-${dialect}`, { dialect, base_url: `${upstream.url}${basePath}` }]),
    ),
    // One route takes what the model as a whole does not.
    routes: { 'up-openai': { unsupported_parameters: ['top_k'] } },
  });
  const [model] = catalogue.models as object[];
  catalogue.models = [
    { ...model, unsupported_parameters: ['temperature', 'top_p', 'top_k'] },
  ] as typeof catalogue.models;
  gateway = await startGateway({ catalogue });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const idOf = (dialect: string): string => `up-${dialect}/meta/llama-3.3-70b/defra`;

it.each(fixtures)('the dialect $dialect leaves them out, and what else was sent in', async (fixture) => {
  upstream.reset();
  upstream.reply(playWhole(fixture, said, plainJson));
  const messages = [{ role: 'user', content: 'a "temperature" of Köln' }];
  const reply = await gateway.chat({ model: idOf(fixture.dialect), ...sampling, messages, stop: ['END'], seed: 7 });
  expect(reply.status, reply.text).toBe(200);
  const heard = JSON.stringify(upstream.calls[0]!.json);
  const samplingHeard = ['temperature":', 'top_p', 'topP', 'top_k', 'topK'].filter((name) => heard.includes(name));
  expect(samplingHeard).toEqual(fixture.dialect === 'openai' ? ['temperature":', 'top_p'] : []);
  expect(heard).toContain('Köln');
  expect(heard).toContain('END');
});

it('the OpenAI dialect leaves them out of the first and the last place and of a body that is nothing else', async () => {
  for (const body of [
    { top_k: 1, messages: [{ role: 'user', content: 'a' }] },
    { messages: [{ role: 'user', content: 'a' }], top_k: 1 },
    { temperature: 1, top_k: 1, messages: [{ role: 'user', content: 'a' }], stop: 'x' },
  ]) {
    upstream.reset();
    upstream.reply(json(JSON.stringify(openAiFixture.whole(said))));
    const reply = await gateway.chat({ model: idOf('openai'), ...body });
    expect(reply.status, reply.text).toBe(200);
    const { top_k, ...kept } = body;
    expect(upstream.calls[0]!.json).toEqual({ ...kept, model: 'upstream-model', stream: false });
  }
});

it('the list of models does not name them among the supported ones', async () => {
  const parametersOf = async (id: string) =>
    (await gateway.call('GET', `/v1/models/${id}`)).json.supported_parameters as string[];
  expect(await parametersOf(idOf('gemini'))).not.toContain('temperature');
  expect(await parametersOf(idOf('gemini'))).toContain('stop');
  // A walk may end on the one route that takes them.
  expect(await parametersOf('auto/meta/llama-3.3-70b')).toContain('temperature');
});
