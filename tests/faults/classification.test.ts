/** What an upstream's failure means, seen from outside: the answer, the walk, the breaker and the hold. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { json, rawBytes, sse } from '../support/scripted-upstream.js';
import { refusals } from './classification/all.js';
import { bodyText, type Case } from './classification/case.js';
import { type InsideCase, insides } from './classification/inside.js';
import { resting, switchedOff } from './classification/states.js';
import { type Trial, Trials } from './classification/trial.js';

/** What the upstream asks for is never passed on, so every refusal asks for something. */
const refused = (one: Case): Trial => ({
  name: one.name,
  means: one.means,
  script: json(bodyText(one), { status: one.status, headers: { 'retry-after': '17', ...one.headers } }),
  ...(one.provider && { provider: one.provider }),
});

const inBody = ({ name, means, error }: InsideCase): Trial => ({ name, means, script: json(error) });
const inList = ({ name, means, error }: InsideCase): Trial => ({ name, means, script: json([error]) });

const inFrame = ({ name, means, error, event }: InsideCase): Trial => {
  const frame = `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(error)}\n\n`;
  return { name, means, script: sse([': processing\n\n', frame], { noDone: event !== undefined }), stream: true };
};

const inBareJson = ({ name, means, error }: InsideCase): Trial => ({
  ...{ name, means, stream: true },
  script: json(error, { headers: { 'content-type': 'text/event-stream' } }),
});

const unaskedStream = ({ name, means, error }: InsideCase): Trial => ({ name, means, script: sse([error]) });

const stated = (means: Trial['means'], status: number, texts: readonly string[]): Trial[] =>
  texts.slice(0, 4).map((text) => ({ name: text, means, script: json({ error: { message: text } }, { status }) }));

const families: readonly [string, Trial[]][] = [
  ['a refusal', refusals.map(refused)],
  ['an error in the body of a 200', insides.map(inBody)],
  ['an error in a list in a 200', insides.map(inList)],
  ['an error in the first frame of a stream', insides.map(inFrame)],
  ['an error in place of a stream', insides.map(inBareJson)],
  ['an error in a stream that was not asked for', insides.map(unaskedStream)],
  ['a 400 because nothing runs that could serve', stated('capacity', 400, resting)],
  ['a 503 because an option is switched off', stated('rejected', 503, switchedOff)],
  [
    'what says nothing',
    [
      { name: 'a stream of nothing but [DONE]', means: 'malformed', script: sse([]), stream: true },
      { name: 'an answer without choices', means: 'malformed', script: json({ choices: [] }) },
      { name: 'a page in a 200', means: 'malformed', script: json('<html>not supported, per day limit</html>') },
      {
        name: 'a redirect',
        means: 'malformed',
        script: json({ error: { message: 'not supported' } }, { status: 307 }),
      },
      { name: 'no HTTP at all', means: 'malformed', script: rawBytes(['daily quota exceeded\r\n\r\n']) },
    ],
  ],
];

const trials = new Trials(families.flatMap(([, members]) => members));
beforeAll(() => trials.start());
afterAll(() => trials.stop());

describe.each(families)('%s means what it says', (_, members) => {
  beforeAll(() => trials.walk(members));
  it.each(members.map((trial) => [trial.means, trial.name, trial] as const))('%s: %s', (_means, _name, trial) =>
    trials.run(trial),
  );
});
