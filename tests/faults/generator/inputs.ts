/** The input of a number: the same for the same seed, whatever came before it, so that each can be run again alone. */
import { SeededRandom } from '../../support/seeded-random.js';
import { chatInput, validBody } from './chat-inputs.js';
import { controlInput } from './control-inputs.js';
import { bearer, bytesOf, chatPath, type Generator, type Input, jsonType, oneOf, type Target } from './input.js';
import { mutatedInput } from './mutated-inputs.js';
import { leftInput, rawInput } from './raw-inputs.js';

/** One of so many is a good request. */
const validEvery = 50;

const families: readonly (readonly [number, Generator])[] = [
  [40, chatInput],
  [24, controlInput],
  [16, mutatedInput],
  [16, rawInput],
  [4, leftInput],
];

/** What the generator works with, so that its choices do not depend on the tokens of a run; none stands in a body. */
const stand: Target = {
  key: `sk-lr-${'The-stand-in-for-the-key-of-a-hostile-caller'.slice(0, 43)}`,
  adminToken: 'the-stand-in-for-an-operator',
  accountId: 'the-stand-in-for-an-account',
};

export function inputOf(seed: number, number: number, target: Target, honestKey: string): Input {
  if (number % validEvery === 0) return validInput(number, honestKey);
  const random = new SeededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  const input = oneOf(random, families)(random, stand, number);
  return { ...input, bytes: inPlace(input.bytes, target) };
}

function inPlace(bytes: Buffer, target: Target): Buffer {
  let text = bytes.toString('latin1');
  for (const name of ['key', 'adminToken', 'accountId'] as const) text = text.replaceAll(stand[name], target[name]);
  return Buffer.from(text, 'latin1');
}

function validInput(number: number, key: string): Input {
  return {
    family: 'valid',
    what: 'a good request',
    bytes: bytesOf({ method: 'POST', path: chatPath, headers: [bearer(key), jsonType], body: validBody(number) }),
    kept: true,
    methods: ['POST'],
    path: chatPath,
    expected: { status: [200] },
  };
}
