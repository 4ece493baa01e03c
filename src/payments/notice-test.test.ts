import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { NoticeTests } from './notice-test.js';

const clock = new ManualClock(Date.parse('2026-11-19T12:00:00Z'));
const failing = (fields: object) => async () => {
  throw Object.assign(new Error('connect to smtp://user:secret@mail.example'), fields);
};

describe('a test of the notices', () => {
  it('calls the webhook with an id and a type of its own, and says what it answered', async () => {
    const sent: [string, unknown][] = [];
    const send = async (id: string, body: string) => {
      sent.push([id, JSON.parse(body)]);
      return 500;
    };
    const tests = new NoticeTests({ webhook: { host: 'ops.example', send }, mail: null, clock });
    expect(await tests.callWebhook()).toEqual({ status: 500, fault: null });
    const [[id, body]] = sent as [[string, object]];
    expect(id).toMatch(/^ntt-/);
    expect(body).toMatchObject({ id, type: 'notice.test', timestamp: '2026-11-19T12:00:00.000Z' });
  });

  it.each([
    [{ code: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    [{ responseCode: 535, code: 'EAUTH' }, 'the mail server answered 535'],
    [{}, 'no answer'],
  ])('says what went wrong with %j, and nothing of an address', async (fields, fault) => {
    const webhook = { host: 'ops.example', send: failing(fields) };
    const tests = new NoticeTests({ webhook, mail: failing(fields), clock });
    expect([await tests.mail('ada@example.test'), (await tests.callWebhook()).fault]).toEqual([fault, fault]);
  });
});
