/** Accents of usage: where it is, and how its figures are written. */
import { type Accent, type Answer, type Json, type Meaning, plainUsage } from './accent.js';

/** Another way to write the usage, whole and streamed. */
function figures(name: string, write: (meaning: Meaning) => Json, fits?: Accent['fits']): Accent {
  return {
    name: `usage with ${name}`,
    group: 'figures',
    fits,
    speak: (answer, meaning) => {
      answer.whole.usage = write(meaning);
      answer.frames.at(-1)!.usage = write(meaning);
    },
  };
}

/** Takes the usage out of its own frame, for accents that put it elsewhere. */
function takeUsage({ frames }: Answer): unknown {
  return frames.pop()!.usage;
}

const placeAccents: Accent[] = [
  {
    name: 'usage in the last frame of content',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.usage = usage;
    },
  },
  {
    name: 'usage inside the choice',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.choices[0].usage = usage;
    },
  },
  {
    name: 'usage in `x_groq`',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.x_groq = { id: 'req_1', usage };
    },
  },
  {
    name: 'usage that grows with every frame',
    group: 'place',
    speak: ({ frames }) => {
      for (const [at, frame] of frames.entries()) {
        frame.usage ??= { prompt_tokens: 1, completion_tokens: at, total_tokens: at + 1 };
      }
    },
  },
  {
    name: '`usage: null` in every other frame',
    group: 'place',
    speak: ({ frames }) => {
      for (const frame of frames) frame.usage ??= null;
    },
  },
  {
    name: 'an empty usage after the real one',
    group: 'place',
    speak: ({ frames }) => {
      frames.push({ choices: [], usage: {} });
    },
  },
  ...[undefined, null].map(
    (choices): Accent => ({
      name: `a usage frame with ${choices === null ? '`choices: null`' : 'no choices member'}`,
      group: 'place',
      speak: ({ frames }) => {
        frames.at(-1)!.choices = choices;
      },
    }),
  ),
];

const totalOf = ({ usage: { prompt, completion } }: Meaning) => prompt + completion;
const details = ({ usage: { cached, reasoning } }: Meaning) => ({
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const figureAccents: Accent[] = [
  figures('`cached_tokens` outside of the details', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: undefined,
    cached_tokens: meaning.usage.cached,
  })),
  figures('`prompt_cache_hit_tokens`', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: null,
    prompt_cache_hit_tokens: meaning.usage.cached,
    prompt_cache_miss_tokens: meaning.usage.prompt - meaning.usage.cached,
  })),
  figures('reasoning outside of the completion', (meaning) => ({
    ...plainUsage(meaning),
    completion_tokens: meaning.usage.completion - meaning.usage.reasoning,
  })),
  figures(
    'audio outside of the prompt',
    (meaning) => ({
      ...plainUsage(meaning),
      prompt_tokens: meaning.usage.prompt - 1,
      prompt_tokens_details: { audio_tokens: 1, cached_tokens: meaning.usage.cached },
    }),
    ({ usage: { prompt, cached, reasoning } }) => prompt > cached && reasoning !== 1,
  ),
  figures('audio and images in the prompt', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: { audio_tokens: 1, image_tokens: 1, video_tokens: 0, cached_tokens: meaning.usage.cached },
  })),
  figures('no completion tokens', (meaning) => ({
    prompt_tokens: meaning.usage.prompt,
    total_tokens: totalOf(meaning),
    ...details(meaning),
  })),
  figures('no prompt tokens', (meaning) => ({
    completion_tokens: meaning.usage.completion,
    total_tokens: totalOf(meaning),
    ...details(meaning),
  })),
  figures('no total', (meaning) => ({ ...plainUsage(meaning), total_tokens: undefined })),
  figures('the names of OpenAI\u2019s other API', ({ usage: { prompt, completion, cached, reasoning } }) => ({
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  })),
  figures(
    'a total that is unexplained',
    (meaning) => ({
      ...plainUsage(meaning),
      total_tokens: totalOf(meaning) + 1_000_000,
      completion_tokens: meaning.usage.completion - meaning.usage.reasoning,
    }),
    ({ usage: { reasoning } }) => reasoning > 0,
  ),
  figures('figures that are no tokens', (meaning) => ({
    ...plainUsage(meaning),
    cost: { total_cost: 0.01 },
    queue_time: 0.25,
    num_sources_used: -1,
    service_tier: '',
  })),
];

export const usageAccents: readonly Accent[] = [...placeAccents, ...figureAccents];
