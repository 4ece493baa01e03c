/** Translates the fields of OpenRouter that no other API has: `models` into a fallback chain; `transforms` may only be empty. */
import { encodeLatin1 } from '../base/latin1.js';
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import { memberText, withMembers, withoutMembers } from '../wire/splice-members.js';
import { checkExcess } from './body.js';

/** Bodies without such fields, and those that are no JSON, stay as they are: the door reads or refuses them. */
export function openRouterBody(bytes: Buffer): Buffer {
  if (!bytes.includes('"models"') && !bytes.includes('"transforms"')) return bytes;
  let text: string;
  let models: unknown;
  let transforms: unknown;
  let fallback: unknown;
  let model: unknown;
  try {
    checkExcess(bytes);
    text = bytes.toString('latin1');
    const member = (name: string): unknown => JSON.parse(memberText(text, name) ?? 'null');
    [models, transforms, fallback, model] = ['models', 'transforms', 'fallback', 'model'].map(member);
  } catch {
    return bytes;
  }
  checkTransforms(transforms);
  const rest = withoutMembers(text, ['models', 'transforms']);
  if (models === null || models === undefined) return Buffer.from(rest, 'latin1');
  if (!Array.isArray(models) || !models.every((id) => typeof id === 'string')) {
    const found = shown(models, 'latin1');
    throw gatewayError('field_type', { param: 'models', found, expected: 'an array of model ids' });
  }
  if (fallback !== null && fallback !== undefined) {
    const what = '`models` and `fallback` are the same thing. Send one of them.';
    throw gatewayError('request_invalid', { param: 'models', what });
  }
  const asked = model ?? models[0];
  const chain = models.filter((id, at) => id !== asked && models.indexOf(id) === at);
  const changes = { ...(models.length > 0 && { fallback: { models: chain } }), ...(asked != null && { model: asked }) };
  const texts = Object.entries(changes).map(([name, value]) => [name, encodeLatin1(JSON.stringify(value))]);
  return Buffer.from(withMembers(rest, Object.fromEntries(texts)), 'latin1');
}

function checkTransforms(transforms: unknown): void {
  if (transforms === null || transforms === undefined || (Array.isArray(transforms) && transforms.length === 0)) return;
  const what = '`transforms` asks for the messages to be changed, which is not done here. Leave it out.';
  throw gatewayError('request_invalid', { param: 'transforms', what });
}
