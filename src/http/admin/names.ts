/** The admin API of names that the operator gives to models. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ListedName } from '../../accounts/names/name-book.js';
import {
  definitionOf,
  isModelName,
  type ModelName,
  modelNameOf,
  nameDefinition,
  nameRule,
  type StoredName,
} from '../../catalogue/model-name.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { type NameFault, nameFaults } from '../../pipeline/check-name.js';
import type { HttpDeps } from '../deps.js';
import { body, component, json, list, noContent, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { jsonBody } from '../server/body.js';
import { actorOf } from './audit.js';
import { shownValue } from './fields.js';

type WithName = { Params: { '*': string } };

export function registerNames(app: FastifyInstance, { names, catalogue, modelStates, audit, clock }: HttpDeps): void {
  app.get('/names', async () => ({ object: 'list', data: names.list().map(nameJson) }));

  app.put<WithName>('/names/*', async (request) => {
    const text = request.params['*'];
    if (!isModelName(text)) throw gatewayError('invalid_name', { name: text.slice(0, 200), rule: nameRule });
    names.checkNotInFile(text);
    const name = nameIn(request, text);
    if (!catalogue.current) throw gatewayError('service_unavailable');
    const [fault] = nameFaults(name, catalogue.current, modelStates);
    if (fault) throw faultError(fault);
    const stored = await names.put(name, clock.now());
    await audit.record(actorOf(request), 'name.put', text, definitionOf(name));
    return nameJson({ name: stored, file: null });
  });

  app.delete<WithName>('/names/*', async (request, reply) => {
    const text = request.params['*'];
    if (!(await names.delete(text))) throw gatewayError('resource_not_found', { what: 'name', id: text.slice(0, 200) });
    await audit.record(actorOf(request), 'name.delete', text);
    return reply.code(204).send();
  });
}

function nameIn(request: FastifyRequest, text: string): ModelName {
  const body = jsonBody(request);
  const checked = nameDefinition.safeParse(body);
  if (checked.success) return modelNameOf(text, checked.data);
  const issue = checked.error.issues[0]!;
  if (issue.code === 'unrecognized_keys') {
    const path = [...issue.path, issue.keys[0]!].map(String);
    throw faultError({ path, reason: `it is not a field of a name; there are ${issue.message}.`, isUnknown: false });
  }
  const value = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    body,
  );
  const found = value === undefined ? 'it is missing' : `it is ${shownValue(value)}`;
  const reason = `${found}, but must be ${issue.message}.`;
  throw faultError({ path: issue.path.map(String), reason, isUnknown: false });
}

function faultError({ path, reason }: NameFault): Error {
  if (path[0] === 'model') return gatewayError('invalid_name_target', { reason });
  return gatewayError('name_field_invalid', { param: path.join('.').slice(0, 200), reason });
}

function nameJson({ name, file }: ListedName) {
  const { createdAt = null, updatedAt = null } = name as Partial<StoredName>;
  return {
    object: 'name',
    name: name.name,
    ...definitionOf(name),
    /** `file` cannot be changed by the API. */
    source: file === null ? 'store' : 'file',
    file,
    created_at: createdAt === null ? null : new Date(createdAt).toISOString(),
    updated_at: updatedAt === null ? null : new Date(updatedAt).toISOString(),
  };
}

const objectOrNull = (description: string) => s.orNull({ type: 'object', ...s.open, description });

const shownName = record('Name', {
  object: { const: 'name' },
  name: s.text('What clients write in `model`.'),
  model: s.text('What it stands for.'),
  fallback: objectOrNull('Its chain; null where it has none.'),
  provider: objectOrNull('Its wishes; null where it has none.'),
  defaults: objectOrNull('Fields for what clients leave out; null where it has none.'),
  note: s.textOrNull('A note.'),
  imported_from: objectOrNull('Where it was before: `system` and `id`.'),
  source: s.oneOfValues(['store', 'file'], 'A name of a `file` cannot be changed by the API.'),
  file: s.textOrNull('The file that it is in.'),
  created_at: s.timeOrNull('When it was created.'),
  updated_at: s.timeOrNull('When it was last changed.'),
});

export const adminNames = resource('Names', 'For operators: names of your own for models.', 'admin', {
  'GET /admin/v1/names': operation('listNames', 'List names', { answers: list(shownName) }),
  'PUT /admin/v1/names/{name}': operation('putName', 'Create or replace a name', {
    description: 'Clients may send the name as `model` from the next request on, at every replica.',
    body: body(component('NameDefinition', nameDefinition), {
      plain: ['A name for a model', { model: 'auto/lodestone/echo' }],
      defaults: ['With defaults', { model: 'auto/lodestone/echo', defaults: { temperature: 0.2, max_tokens: 800 } }],
    }),
    answers: json('The name.', shownName),
  }),
  'DELETE /admin/v1/names/{name}': operation('deleteName', 'Delete a name', { answers: noContent }),
});
