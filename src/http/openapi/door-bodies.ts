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

const otherThan = (...types: readonly string[]) => s.openObject({ type: { type: 'string', not: { enum: types } } });

/** Of the Messages API. A tool without a type is a function of the client. */
export const messageTool: Schema = {
  anyOf: [
    s.openObject({ type: { type: 'string', not: { const: 'custom' } } }),
    s.openObject({
      type: s.optional({ enum: ['custom', null] }),
      name: { type: 'string', minLength: 1 },
      description: s.optional({ type: ['string', 'null'] }),
      input_schema: { type: 'object', ...s.open },
    }),
  ],
};

/** An object of one of these types, with text in a member. */
const typed = (types: readonly string[], member: string) =>
  s.openObject({ type: { enum: types }, [member]: { type: 'string' } });

const parts: Schema = s.array(
  {
    anyOf: [
      typed(['text', 'input_text', 'output_text'], 'text'),
      typed(['refusal'], 'refusal'),
      ...['image_url', 'file_id'].map((member) => typed(['input_image'], member)),
      ...['file_data', 'file_url', 'file_id'].map((member) => typed(['input_file'], member)),
      otherThan('text', 'input_text', 'output_text', 'refusal', 'input_image', 'input_file'),
    ],
  },
  'Parts.',
);
const textOrParts: Schema = { anyOf: [{ type: 'string' }, parts] };

const text = { type: 'string' };

/** Of the Responses API. A reference to a stored item is none. */
export const item: Schema = {
  anyOf: [
    s.openObject({
      type: s.optional({ enum: ['message', null] }),
      role: { enum: ['user', 'assistant', 'system', 'developer'] },
      content: textOrParts,
    }),
    s.openObject({ type: { const: 'function_call' }, call_id: text, name: text, arguments: text }),
    s.openObject({ type: { const: 'function_call_output' }, call_id: text, output: textOrParts }),
    otherThan('message', 'function_call', 'function_call_output', 'item_reference'),
  ],
};
