/** What a client of each API puts together from the events of a stream. */

interface Heard {
  text: string;
  reasoning: string;
  calls: { name: string; input: unknown }[];
}

// biome-ignore lint/suspicious/noExplicitAny: events of any shape
type Event = any;

const eventsIn = (stream: string): Event[] =>
  stream
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as Event] : []));

export function heardAt(door: string, stream: string): Heard {
  const events = eventsIn(stream);
  if (door === 'messages') return heardOfMessage(events);
  return door === 'responses' ? heardOfResponse(events) : heardOfChat(events);
}

function heardOfChat(events: readonly Event[]): Heard {
  const deltas = events.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta ?? {});
  const calls: { name: string; text: string }[] = [];
  for (const { index, function: called } of deltas.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    calls[index] ??= { name: called.name, text: '' };
    calls[index].text += called.arguments ?? '';
  }
  return {
    text: deltas.map(({ content }) => content ?? '').join(''),
    reasoning: deltas.map(({ reasoning_content: thought }) => thought ?? '').join(''),
    calls: calls.map(({ name, text }) => ({ name, input: JSON.parse(text) })),
  };
}

/** Also checks that blocks begin and end in order, one at a time. */
function heardOfMessage(events: readonly Event[]): Heard {
  const heard: Heard = { text: '', reasoning: '', calls: [] };
  const blocks: { type: string; name: string; text: string; isOpen: boolean }[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') {
      if (index !== blocks.length || blocks.some(({ isOpen }) => isOpen)) throw new Error(`block ${index} begins`);
      blocks.push({ ...block, text: block.text ?? block.thinking ?? '', isOpen: true });
    } else if (type === 'content_block_delta') {
      if (!blocks[index]?.isOpen) throw new Error(`block ${index} is not open`);
      blocks[index].text += delta.text ?? delta.thinking ?? delta.partial_json ?? '';
    } else if (type === 'content_block_stop') blocks[index]!.isOpen = false;
  }
  if (blocks.some(({ isOpen }) => isOpen)) throw new Error('a block stays open');
  for (const { type, name, text } of blocks) {
    if (type === 'text') heard.text += text;
    else if (type === 'thinking') heard.reasoning += text;
    else if (type === 'tool_use') heard.calls.push({ name, input: JSON.parse(text || '{}') });
  }
  return heard;
}

/** Also checks that the last event says the same as the deltas, and that events are numbered without a gap. */
function heardOfResponse(events: readonly Event[]): Heard {
  events.forEach(({ sequence_number: number }, at) => {
    if (number !== at) throw new Error(`event ${at} has the number ${number}`);
  });
  const deltasOf = (pattern: RegExp) => events.filter(({ type }) => pattern.test(type)).map(({ delta }) => delta);
  const { output } = events.at(-1).response as { output: Event[] };
  const textOf = (parts: Event[] = []) => parts.map(({ text }) => text ?? '').join('');
  const heard: Heard = {
    text: output.map(({ type, content }) => (type === 'message' ? textOf(content) : '')).join(''),
    reasoning: output
      .map(({ type, content, summary }) => (type === 'reasoning' ? textOf(content) || textOf(summary) : ''))
      .join(''),
    calls: output.flatMap(({ type, name, arguments: text }) =>
      type === 'function_call' ? [{ name, input: JSON.parse(text) }] : [],
    ),
  };
  const said = deltasOf(/^response\.output_text\.delta$/).join('');
  if (said !== heard.text) throw new Error(`the deltas say "${said}", the response "${heard.text}"`);
  const thought = deltasOf(/^response\.reasoning.*text\.delta$/).join('');
  if (thought !== heard.reasoning) throw new Error(`the deltas think "${thought}", the response "${heard.reasoning}"`);
  return heard;
}
