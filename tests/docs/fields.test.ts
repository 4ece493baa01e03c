import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fieldsPage, renderFieldsPage } from '../../scripts/fields-page.mjs';
import { doors } from '../../src/doors/registry.js';
import type { ApiName } from '../../src/wire/chat-request.js';
import { declaredFields } from '../support/declared-fields.js';

const anthropic = '@anthropic-ai/sdk/resources/messages/messages.d.ts';
const anthropicBeta = '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts';
const openaiResponses = 'openai/resources/responses/responses.d.ts';
const openRouter = '@openrouter/sdk/esm/models';

/** The types of requests in the packages that the providers publish, for each table. */
const declared: Readonly<Record<ApiName, readonly (readonly [file: string, type: string])[]>> = {
  chat: [
    ['openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'],
    [`${openRouter}/chatrequest.d.ts`, 'ChatRequest$Outbound'],
  ],
  messages: [
    [anthropic, 'MessageCreateParamsBase'],
    [anthropicBeta, 'MessageCreateParamsBase'],
    [anthropic, 'MessageCountTokensParams'],
    [anthropicBeta, 'MessageCountTokensParams'],
    [`${openRouter}/messagesrequest.d.ts`, 'MessagesRequest$Outbound'],
  ],
  responses: [
    [openaiResponses, 'ResponseCreateParamsBase'],
    [openaiResponses, 'ResponseCompactParams'],
    [openaiResponses, 'ResponsesClientEvent'],
    [`${openRouter}/responsesrequest.d.ts`, 'ResponsesRequest$Outbound'],
  ],
  embeddings: [
    ['openai/resources/embeddings.d.ts', 'EmbeddingCreateParams'],
    [`${openRouter}/operations/createembeddings.d.ts`, 'CreateEmbeddingsRequestBody$Outbound'],
  ],
  rerank: [[`${openRouter}/operations/creatererank.d.ts`, 'CreateRerankRequestBody$Outbound']],
};

describe.each(doors.map(({ path, name, fields: table }) => ({ path, name, ...table })))(
  '$path',
  ({ name: api, fields }) => {
    const known = new Set(declared[api].flatMap(([file, type]) => declaredFields(file, type)));

    it('has every field of the providers’ packages: decide what happens to a new one', () => {
      expect([...known].filter((name) => !fields.has(name))).toEqual([]);
    });

    it('has no field that the packages lack, unless it says whose it is', () => {
      const own = [...fields].filter(([, { from }]) => from === undefined || from === 'OpenRouter');
      expect(own.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
    });

    it('has names in lower case, which other spellings are compared with', () => {
      for (const name of fields.keys()) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    });
  },
);

describe('the reader of declarations', () => {
  it('finds the members of a type, and of no type inside of it', () => {
    const names = declaredFields(
      'openai/resources/chat/completions/completions.d.ts',
      'ChatCompletionCreateParamsBase',
    );
    expect(names).toEqual(expect.arrayContaining(['messages', 'model', 'web_search_options']));
    expect(names).not.toContain('user_location');
  });

  it('fails where there is no such type', () => {
    expect(() => declaredFields('openai/resources/embeddings.d.ts', 'Nothing')).toThrow('no type Nothing');
  });
});

describe('docs/guide/fields.md', () => {
  it('is what the tables render to; "npm run docs" writes it', () => {
    expect(readFileSync(fieldsPage, 'utf8')).toBe(renderFieldsPage(doors));
  });
});
