/** Describes what the bodies of `/v1/messages` and `/v1/responses` are made of: messages, tools and items. */
import * as s from './schema.js';
import type { Schema } from './types.js';

export const block = s.openObject({ type: s.text('What it is.') });

const content = (blocksMin: number): Schema => ({
  anyOf: [{ type: 'string' }, s.array(block, 'Blocks.', { minItems: blocksMin })],
  description: 'Text, or blocks.',
});

/** Of the Messages API. */
export const message: Schema = {
  anyOf: [
    s.openObject({ role: { const: 'user' }, content: content(1) }),
    s.openObject({ role: { enum: ['assistant', 'system'] }, content: content(0) }),
  ],
};

/** Of the Messages API. A tool without a type is a function of the client. */
export const messageTool: Schema = {
  anyOf: [
    {
      type: 'object',
      properties: { type: { type: 'string', not: { const: 'custom' } } },
      required: ['type'],
      ...s.open,
    },
    {
      type: 'object',
      properties: {
        type: { enum: ['custom', null] },
        name: { type: 'string', minLength: 1 },
        description: { type: ['string', 'null'] },
        input_schema: { type: 'object', ...s.open },
      },
      required: ['name', 'input_schema'],
      ...s.open,
    },
  ],
};

/** An object of one of these types, with text in a member. */
const typed = (types: readonly string[], member: string): Schema => ({
  type: 'object',
  properties: { type: { enum: types }, [member]: { type: 'string' } },
  required: ['type', member],
  ...s.open,
});

const otherThan = (types: readonly string[]): Schema => ({
  ...{ type: 'object', properties: { type: { type: 'string', not: { enum: types } } }, required: ['type'], ...s.open },
});

const parts: Schema = s.array(
  {
    anyOf: [
      typed(['text', 'input_text', 'output_text'], 'text'),
      typed(['refusal'], 'refusal'),
      ...['image_url', 'file_id'].map((member) => typed(['input_image'], member)),
      ...['file_data', 'file_url', 'file_id'].map((member) => typed(['input_file'], member)),
      otherThan(['text', 'input_text', 'output_text', 'refusal', 'input_image', 'input_file']),
    ],
  },
  'Parts.',
);
const textOrParts: Schema = { anyOf: [{ type: 'string' }, parts] };

/** Of the Responses API. A reference to a stored item is none. */
export const item: Schema = {
  anyOf: [
    {
      type: 'object',
      properties: {
        type: { enum: ['message', null] },
        role: { enum: ['user', 'assistant', 'system', 'developer'] },
        content: textOrParts,
      },
      required: ['role', 'content'],
      ...s.open,
    },
    {
      type: 'object',
      properties: {
        type: { const: 'function_call' },
        call_id: { type: 'string' },
        name: { type: 'string' },
        arguments: { type: 'string' },
      },
      required: ['type', 'call_id', 'name', 'arguments'],
      ...s.open,
    },
    {
      type: 'object',
      properties: { type: { const: 'function_call_output' }, call_id: { type: 'string' }, output: textOrParts },
      required: ['type', 'call_id', 'output'],
      ...s.open,
    },
    otherThan(['message', 'function_call', 'function_call_output', 'item_reference']),
  ],
};
