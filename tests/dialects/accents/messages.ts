/** Accents of messages: reasons to finish, roles, content, reasoning, and what is around a choice. */
import {
  type Accent,
  choicesOf,
  endsByItself,
  everyChoice,
  everyMessage,
  hasReasoning,
  type Json,
  type Meaning,
} from './accent.js';

const words: Record<Meaning['finish'], string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'SAFETY',
};

const finishAccents: Accent[] = [
  {
    name: 'no finish_reason at all',
    group: 'finish',
    fits: endsByItself,
    speak: everyChoice((choice) => delete choice.finish_reason),
  },
  {
    name: 'an empty finish_reason throughout',
    group: 'finish',
    fits: endsByItself,
    speak: everyChoice((choice) => {
      choice.finish_reason = '';
    }),
  },
  {
    name: 'an empty finish_reason until the end',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) choice.finish_reason ??= '';
    },
  },
  {
    name: 'the word "null" for no finish_reason',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) choice.finish_reason ??= 'null';
    },
  },
  {
    name: 'a finish_reason only where there is one',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) if (choice.finish_reason === null) delete choice.finish_reason;
    },
  },
  {
    name: 'words of its own for reasons to finish',
    group: 'finish',
    speak: everyChoice((choice) => {
      if (choice.finish_reason) choice.finish_reason = words[choice.finish_reason as Meaning['finish']];
    }),
  },
];

const roleAccents: Accent[] = [
  { name: 'no role', group: 'role', speak: everyMessage((message) => delete message.role) },
  ...[null, '', 'model'].map(
    (role): Accent => ({
      name: `the role ${JSON.stringify(role)}`,
      group: 'role',
      speak: everyMessage((message) => {
        message.role = role;
      }),
    }),
  ),
];

const contentAccents: Accent[] = [
  {
    name: 'content as a list of text parts',
    group: 'content',
    speak: everyMessage((message) => {
      if (message.content) message.content = [{ type: 'text', text: message.content }];
    }),
  },
  {
    name: 'content as a list with references',
    group: 'content',
    speak: everyMessage((message) => {
      const reference = { type: 'reference', reference_ids: [1] };
      if (message.content) message.content = [reference, { type: 'text', text: message.content }];
    }),
  },
  {
    name: 'content as a list of strings',
    group: 'content',
    speak: everyMessage((message) => {
      if (message.content) message.content = [message.content];
    }),
  },
  {
    name: 'no content where there is none',
    group: 'content',
    speak: everyMessage((message) => {
      if (!message.content) delete message.content;
    }),
  },
  {
    name: 'null for content where there is none',
    group: 'content',
    speak: everyMessage((message) => {
      message.content = message.content || null;
    }),
  },
  {
    name: 'empty placeholders in every message',
    group: 'content',
    speak: everyMessage((message) => {
      message.function_call = { name: '', arguments: '' };
      message.audio = { id: '', data: '', transcript: '', expires_at: 0 };
      message.annotations = null;
    }),
  },
];

/** Reasoning is moved from `reasoning_content` to wherever an accent has it. */
function movedReasoning(name: string, put: (message: Json, reasoning: string) => void): Accent {
  return {
    name: `reasoning ${name}`,
    group: 'reasoning',
    fits: hasReasoning,
    speak: everyMessage((message) => {
      const { reasoning_content: reasoning } = message;
      delete message.reasoning_content;
      if (reasoning) put(message, reasoning);
    }),
  };
}

const reasoningAccents: Accent[] = [
  movedReasoning('under `reasoning`', (message, text) => {
    message.reasoning = text;
  }),
  movedReasoning('under both names', (message, text) =>
    Object.assign(message, { reasoning: text, reasoning_content: text }),
  ),
  movedReasoning('under `reasoning`, with an empty `reasoning_content`', (message, text) =>
    Object.assign(message, { reasoning: text, reasoning_content: '' }),
  ),
  movedReasoning('under `thinking`', (message, text) => {
    message.thinking = text;
  }),
  movedReasoning('in `reasoning_details` alone', (message, text) => {
    message.reasoning_details = [{ type: 'reasoning.text', text, index: 0 }];
  }),
  movedReasoning('under both `reasoning` and `reasoning_details`', (message, text) => {
    message.reasoning = text;
    message.reasoning_details = [{ type: 'reasoning.text', text, index: 0 }];
  }),
  movedReasoning('as a thinking part of the content', (message, text) => {
    message.content = [
      { type: 'thinking', thinking: [{ type: 'text', text }], closed: true },
      ...(message.content ? [{ type: 'text', text: message.content }] : []),
    ];
  }),
  movedReasoning('as a reasoning part with a summary', (message, text) => {
    message.content = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
      ...(message.content ? [{ type: 'text', text: message.content }] : []),
    ];
  }),
];

/** To be spoken last: they add frames that the others do not know. */
export const envelopeAccents: readonly Accent[] = [
  {
    name: 'no id, object, created or model',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) for (const name of ['id', 'object', 'created', 'model']) delete body[name];
    },
  },
  {
    name: 'an empty id, object and model, and a fraction of a second',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) Object.assign(body, { id: '', object: '', model: '', created: 17.25 });
    },
  },
  {
    name: 'choices without an index',
    group: 'envelope',
    speak: everyChoice((choice) => delete choice.index),
  },
  {
    name: '`delta: null` where nothing is new',
    group: 'envelope',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) if (Object.keys(choice.delta).length === 0) choice.delta = null;
    },
  },
  {
    name: 'the whole message beside every delta',
    group: 'envelope',
    speak: (answer) => {
      let content = '';
      for (const choice of choicesOf(answer)) {
        if (typeof choice.delta?.content === 'string') content += choice.delta.content;
        choice.message = { role: 'assistant', content };
      }
      answer.whole.choices[0].delta = { role: 'assistant', content: '' };
    },
  },
  {
    name: 'findings of a content filter',
    group: 'envelope',
    speak: ({ frames }) => {
      const filtered = { hate: { filtered: false, severity: 'safe' } };
      frames.unshift({ id: '', object: '', model: '', created: 0, choices: [], prompt_filter_results: [filtered] });
      frames.splice(-2, 0, { id: '', choices: [{ index: 0, finish_reason: null, content_filter_results: filtered }] });
    },
  },
  {
    name: 'an empty error in every body',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) body.error = {};
    },
  },
];

export const messageAccents: readonly Accent[] = [
  ...finishAccents,
  ...roleAccents,
  ...contentAccents,
  ...reasoningAccents,
];
