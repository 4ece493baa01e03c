/** Describes the parameters in paths, once for all operations. */
import { namePattern } from '../../catalogue/model-name.js';
import type { Parameter } from './types.js';

/** By the end of the path up to and with the parameter. */
const descriptions: Readonly<Record<string, Partial<Parameter>>> = {
  'accounts/{id}': { description: 'The account’s id.' },
  'aliases/{name}': { description: 'The alias, without `alias/`.', example: 'fast' },
  'credentials/{id}': { description: 'The credential’s id.' },
  '{credential_id}': { description: 'The credential’s id.' },
  'generation/{id}': { description: 'The `id` of an answer, or the `x-request-id` of its response.' },
  'generations/{id}': { description: 'The `id` of an answer.' },
  'invitations/{id}': { description: 'The invitation’s id.' },
  'keys/{id}': { description: 'The key’s public id.' },
  '{key_id}': { description: 'The key’s public id.' },
  'members/{id}': { description: 'The person’s id.' },
  '{member_id}': { description: 'The person’s id.' },
  'models/{creator}/{model}': { description: 'The model’s name.', example: 'slow' },
  'models/{id}': {
    description: 'Any id of the list, with its slashes as they are.',
    example: 'sandbox/lodestone/echo',
  },
  'names/{name}': {
    description: 'The name, percent-encoded.',
    schema: { type: 'string', pattern: namePattern },
    example: 'gpt-4o',
  },
  'people/{id}': { description: 'The person’s id.' },
  'projects/{id}': { description: 'The project’s id.' },
  '{project_id}': { description: 'The project’s id.' },
  'tile/{path}': { description: 'Level, index and width.', example: '0/x001/234' },
  '{creator}': { description: 'The model’s creator.', example: 'lodestone' },
  '{locode}': { description: 'The region, or `global`.', example: 'global' },
  '{provider}': { description: 'The provider.', example: 'sandbox' },
  '{provider}/{creator}/{model}': { description: 'The model’s name.', example: 'quota' },
};

/** In their order. `others` are those that the operation names itself, which may be in the path too. */
export function parametersOf(path: string, others: readonly Parameter[] = []): Parameter[] {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(({ 1: name = '', 0: braced, index }) => {
    const own = others.find((other) => other.in === 'path' && other.name === name);
    return own ?? pathParameter(name, path.slice(0, index + braced.length));
  });
  return [...parameters, ...others.filter((other) => other.in !== 'path')];
}

function pathParameter(name: string, upTo: string): Parameter {
  const known = Object.keys(descriptions).find((end) => upTo.endsWith(end));
  if (known === undefined)
    throw new Error(`The parameter at the end of ${upTo} is not described: add it to this table.`);
  return { name, in: 'path', required: true, description: '', schema: { type: 'string' }, ...descriptions[known] };
}
