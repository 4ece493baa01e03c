import { describe, expect, it } from 'vitest';
import { readMessages } from './read-messages.js';

const turnsOf = (...messages: unknown[]) => readMessages(messages).turns;
const partsOf = (content: unknown) => turnsOf({ role: 'user', content })[0]?.items;
const inputOf = (text: unknown) =>
  turnsOf({ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: text } }] })[0]?.items[0];

describe('OpenAI\u2019s messages as a conversation', () => {
  it('have system and developer messages moved to the front, in order', () => {
    const { system, turns } = readMessages([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'developer', content: [{ type: 'text', text: 'c', cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'd' },
    ]);
    expect(system).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'text', text: 'c', cacheControl: { type: 'ephemeral' } },
    ]);
    expect(turns).toEqual([
      {
        role: 'user',
        items: [
          { kind: 'text', text: 'b' },
          { kind: 'text', text: 'd' },
        ],
      },
    ]);
  });

  it('have files and pictures that other servers\u2019 parts carry along', () => {
    const url = 'data:application/pdf;base64,QUJD';
    const file = { kind: 'file', mediaType: 'application/pdf', data: 'QUJD', filename: null };
    for (const part of [
      { type: 'document_url', document_url: url },
      { type: 'file_url', file_url: { url } },
    ]) {
      expect(partsOf([part])).toEqual([{ ...file, part }]);
    }
    const video = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,QUJD' } };
    expect(partsOf([video])).toEqual([{ ...file, mediaType: 'video/mp4', part: video }]);
    expect(partsOf([{ type: 'image', image: 'data:image/png;base64,QUJD' }])).toEqual([
      { kind: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'QUJD' } },
    ]);
    const away = { type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } };
    expect(partsOf([away])).toEqual([{ kind: 'other', part: away }]);
  });

  it('leave out the thoughts that some models write as parts, which no other takes back', () => {
    const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    const content = [thoughts, { type: 'text', text: 'a' }];
    expect(turnsOf({ role: 'assistant', content })[0]?.items).toEqual([{ kind: 'text', text: 'a' }]);
    // Anthropic\u2019s own are signed, and are for it to judge.
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 's' };
    expect(turnsOf({ role: 'assistant', content: [signed] })[0]?.items).toEqual([{ kind: 'other', part: signed }]);
  });

  it('lose nothing that a system message has besides text', () => {
    const image = { type: 'image_url', image_url: { url: 'https://a.example/b' } };
    expect(readMessages([{ role: 'system', content: [image] }]).turns[0]?.items).toEqual([
      { kind: 'image', source: { kind: 'url', url: 'https://a.example/b' } },
    ]);
  });

  it('say nothing where they are empty', () => {
    for (const content of ['', null, undefined, [], [{ type: 'text', text: '' }]]) {
      expect(turnsOf({ role: 'user', content }, { role: 'assistant', content })).toEqual([]);
    }
  });

  it('may have any number of parts', () => {
    const content = Array.from({ length: 300_000 }, () => ({ type: 'text', text: 'a' }));
    expect(turnsOf({ role: 'user', content }, { role: 'user', content })[0]?.items).toHaveLength(600_000);
  });

  it('keep images as data or by address, in either spelling', () => {
    expect(partsOf([{ type: 'image_url', image_url: { url: 'data:image/PNG;base64,QUJD' } }])).toEqual([
      { kind: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'QUJD' } },
    ]);
    expect(partsOf([{ type: 'image_url', image_url: 'data:image/svg+xml;charset=utf-8;base64,QQ==' }])).toEqual([
      { kind: 'image', source: { kind: 'data', mediaType: 'image/svg+xml', data: 'QQ==' } },
    ]);
    expect(partsOf([{ type: 'image_url', image_url: { url: 'data:image/jpg;base64,QQ==' } }])).toEqual([
      { kind: 'image', source: { kind: 'data', mediaType: 'image/jpeg', data: 'QQ==' } },
    ]);
    expect(partsOf([{ type: 'image_url', image_url: { url: 'data:text/plain,abc' } }])).toEqual([
      { kind: 'image', source: { kind: 'url', url: 'data:text/plain,abc' } },
    ]);
  });

  it('keep files and sounds that came along, and what the caller wrote of them', () => {
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,QUJD' } };
    const sound = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } };
    expect(partsOf([file, sound])).toEqual([
      { kind: 'file', mediaType: 'application/pdf', data: 'QUJD', filename: 'a.pdf', part: file },
      { kind: 'file', mediaType: 'audio/wav', data: 'QUJD', filename: null, part: sound },
    ]);
  });

  it.each([
    [{ type: 'file', file: { file_id: 'file-1' } }],
    [{ type: 'text', text: 7 }],
    [{ type: 'image_url', image_url: {} }],
    [{ type: 'input_audio' }],
    [{ type: 'document', source: {} }],
    [null],
    [7],
  ])('keep a part that has no common shape as it is: %j', (part) => {
    expect(partsOf([part])).toEqual([{ kind: 'other', part }]);
  });

  it('count a refusal as what the assistant said', () => {
    expect(turnsOf({ role: 'assistant', content: null, refusal: 'No.' })[0]?.items).toEqual([
      { kind: 'text', text: 'No.' },
    ]);
    expect(turnsOf({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] })[0]?.items).toEqual([
      { kind: 'text', text: 'No.' },
    ]);
  });

  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    [undefined, {}],
    [{ a: 1 }, { a: 1 }],
    ['[1]', { arguments: '[1]' }],
    ['null', { arguments: 'null' }],
    ['{"a":', { arguments: '{"a":' }],
  ])('have arguments %j as an object, and lose none that are none', (text, input) => {
    expect(inputOf(text)).toEqual({ kind: 'tool_call', id: 'c', name: 'f', input });
  });

  it('have the results of parallel calls in one turn, each with the name of its function', () => {
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } });
    const turns = turnsOf(
      { role: 'assistant', content: '', tool_calls: [call('1', 'f'), call('2', 'g')] },
      { role: 'tool', tool_call_id: '2', content: 'two' },
      { role: 'tool', tool_call_id: '1', content: null, cache_control: { type: 'ephemeral' } },
      { role: 'tool', tool_call_id: '3', name: 'h', content: 'three' },
      { role: 'user', content: 'so' },
    );
    expect(turns.map(({ role }) => role)).toEqual(['assistant', 'user']);
    expect(turns[1]?.items).toEqual([
      { kind: 'tool_result', id: '2', name: 'g', parts: [{ kind: 'text', text: 'two' }] },
      { kind: 'tool_result', id: '1', name: 'f', parts: [], cacheControl: { type: 'ephemeral' } },
      { kind: 'tool_result', id: '3', name: 'h', parts: [{ kind: 'text', text: 'three' }] },
      { kind: 'text', text: 'so' },
    ]);
  });

  it('keep tool calls of other kinds as they are', () => {
    const custom = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } };
    expect(turnsOf({ role: 'assistant', tool_calls: [custom, null] })[0]?.items).toEqual([
      { kind: 'other', part: custom },
      { kind: 'other', part: null },
    ]);
  });

  it('give reasoning back before what followed it', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 's', format: 'f', index: 0 }, 'odd'];
    const [turn] = turnsOf({ role: 'assistant', content: 'a', reasoning_details: details });
    expect(turn?.items).toEqual([
      { kind: 'reasoning', format: 'f', text: 'hm', signature: 's', data: null, id: null },
      { kind: 'text', text: 'a' },
    ]);
  });
});
