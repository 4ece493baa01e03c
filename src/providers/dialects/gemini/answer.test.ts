import { describe, expect, it } from 'vitest';
import { readAnswer } from './answer.js';

const answer = (candidate: object, more: object = {}) =>
  readAnswer({ candidates: [{ content: { parts: [] }, ...candidate }], ...more }, 'utf8');
const choiceOf = (candidate: object) => {
  const read = answer(candidate);
  if (read.kind !== 'completion') throw new Error(JSON.stringify(read));
  return (read.completion.choices as Record<string, unknown>[])[0]!;
};
const usageOf = (usageMetadata: object) => {
  const read = answer({ finishReason: 'STOP' }, { usageMetadata });
  return read.kind === 'completion' ? read.completion.usage : read;
};

describe('an answer of Gemini', () => {
  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['OTHER', 'content_filter'],
    ['FINISH_REASON_UNSPECIFIED', 'stop'],
    ['INVENTED_LATER', 'stop'],
  ])('that finishes with %s finishes with %s', (finishReason, finish) => {
    expect(choiceOf({ finishReason }).finish_reason).toBe(finish);
  });

  it('that called a tool says so, with an id of ours where it has none, and with its signature', () => {
    const parts = [
      { functionCall: { name: 'f', args: { a: 'é' } }, thoughtSignature: 'c2ln' },
      { functionCall: { id: 'x', name: 'g' } },
    ];
    const { message, finish_reason } = choiceOf({ finishReason: 'STOP', content: { parts } });
    expect(finish_reason).toBe('tool_calls');
    expect(message).toMatchObject({
      content: null,
      tool_calls: [
        {
          id: expect.stringMatching(/^call_[0-9a-z]{26}$/),
          function: { name: 'f', arguments: '{"a":"é"}' },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
        { id: 'x', type: 'function', function: { name: 'g', arguments: '' } },
      ],
    });
  });

  it('keeps thoughts apart from text, and parts of other kinds out', () => {
    const parts = [
      { text: 'hm', thought: true },
      { text: 'a' },
      { executableCode: { code: 'x' } },
      { text: 'b', thoughtSignature: 's' },
    ];
    expect(choiceOf({ finishReason: 'STOP', content: { parts } }).message).toEqual({
      role: 'assistant',
      content: 'ab',
      refusal: null,
      reasoning_content: 'hm',
    });
  });

  it('has one choice a candidate, each with its logprobs', () => {
    const read = readAnswer(
      {
        candidates: [
          { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' },
          {
            index: 0,
            content: { parts: [{ text: 'é' }] },
            finishReason: 'STOP',
            logprobsResult: {
              chosenCandidates: [{ token: 'é', tokenId: 7, logProbability: -0.5 }],
              topCandidates: [{ candidates: [{ token: 'e', logProbability: -1 }] }],
            },
          },
        ],
      },
      'utf8',
    );
    expect(read).toMatchObject({
      kind: 'completion',
      completion: {
        choices: [
          { index: 1, logprobs: null },
          {
            index: 0,
            logprobs: {
              content: [
                {
                  token: 'é',
                  logprob: -0.5,
                  bytes: [0xc3, 0xa9],
                  top_logprobs: [{ token: 'e', logprob: -1, bytes: [0x65] }],
                },
              ],
              refusal: null,
            },
          },
        ],
      },
    });
  });

  it.each([
    [
      {
        promptTokenCount: 9,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 4,
        totalTokenCount: 17,
      },
      [9, 8, 17, 4, 5],
    ],
    [
      { promptTokenCount: 9, toolUsePromptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 14 },
      [11, 3, 14, 0, 0],
    ],
    [{ promptTokenCount: 9, totalTokenCount: 9 }, [9, 0, 9, 0, 0]],
    [{ promptTokenCount: 9, totalTokenCount: 12 }, [9, 3, 12, 0, 0]],
    [{ promptTokenCount: 9, thoughtsTokenCount: 3 }, [9, 3, 12, 0, 3]],
  ])('counts %j as prompt, completion, total, cached and reasoning %j', (metadata, figures) => {
    const [prompt_tokens, completion_tokens, total_tokens, cached_tokens, reasoning_tokens] = figures;
    expect(usageOf(metadata)).toEqual({
      prompt_tokens,
      completion_tokens,
      total_tokens,
      prompt_tokens_details: { cached_tokens },
      completion_tokens_details: { reasoning_tokens },
    });
  });

  it('tells of tokens that may have no price, and passes a figure that is none on', () => {
    expect(
      usageOf({
        promptTokenCount: 9,
        candidatesTokenCount: 3,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 4 }],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2 }],
      }),
    ).toMatchObject({ prompt_tokens_details: { audio_tokens: 4 }, completion_tokens_details: { image_tokens: 2 } });
    expect(usageOf({ promptTokenCount: 'many', candidatesTokenCount: 3 })).toMatchObject({ prompt_tokens: 'many' });
    expect(usageOf({})).toBeUndefined();
  });

  it('counts audio that came from a cache as cached and not as audio', () => {
    expect(
      usageOf({
        ...{ promptTokenCount: 100, candidatesTokenCount: 3, cachedContentTokenCount: 50 },
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 40 },
          { modality: 'AUDIO', tokenCount: 60 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
      }),
    ).toMatchObject({ prompt_tokens_details: { cached_tokens: 50, audio_tokens: 10 } });
  });

  it.each([
    [{ serviceTier: 'priority' }, 'priority'],
    [{ serviceTier: 'FLEX' }, 'flex'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'ON_DEMAND' }, undefined],
  ])('names the tier of %j', (members, tier) => {
    const { service_tier: named } = usageOf({ promptTokenCount: 9, candidatesTokenCount: 3, ...members }) as {
      service_tier?: string;
    };
    expect(named).toBe(tier);
  });

  it('keeps a total that says more than its parts, so that the difference is noticed', () => {
    const figures = { promptTokenCount: 9, candidatesTokenCount: 3 };
    expect(usageOf({ ...figures, totalTokenCount: 20 })).toMatchObject({ completion_tokens: 3, total_tokens: 20 });
    expect(usageOf({ ...figures, totalTokenCount: 10 })).toMatchObject({ completion_tokens: 3, total_tokens: 12 });
  });

  it.each([
    [{ error: { code: 503, message: 'busy' } }],
    [[{ error: { code: 503, message: 'busy' } }]],
    [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: {} }],
  ])('%j is an error, handed over as it came', (value) => {
    expect(readAnswer(value, 'utf8')).toEqual({ kind: 'error', error: value });
  });

  it.each([
    [7, 'its answer is not a JSON object'],
    [{ candidates: [] }, 'its answer has no candidates'],
    [{ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'its answer is empty (MALFORMED_FUNCTION_CALL)'],
  ])('%j is no answer', (value, reason) => {
    expect(readAnswer(value, 'utf8')).toEqual({ kind: 'malformed', reason });
  });

  it('that broke off in a call is what it said before', () => {
    const said = { finishReason: 'MALFORMED_FUNCTION_CALL', content: { parts: [{ text: 'a' }] } };
    expect(choiceOf(said)).toMatchObject({ message: { content: 'a' }, finish_reason: 'stop' });
  });
});
