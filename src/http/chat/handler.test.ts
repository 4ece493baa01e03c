import { expect, it } from 'vitest';
import { RunningChats } from './handler.js';

it('a stop waits until the last chat is settled, and no longer than it may', async () => {
  const chats = new RunningChats();
  await chats.over(60_000);
  chats.begin();
  chats.begin();
  const events: string[] = [];
  const over = chats.over(60_000).then(() => events.push('over'));
  chats.end();
  await new Promise((resolve) => setImmediate(resolve));
  events.push('settled');
  chats.end();
  await over;
  expect(events).toEqual(['settled', 'over']);
  chats.begin();
  await chats.over(5);
});
