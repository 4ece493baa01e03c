import { beforeEach, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

const ada = { email: 'ada@example.com', password: 'correct horse 77' };

let fixture: HttpFixture;
let laptop: BrowserSession;
let phone: BrowserSession;

beforeEach(async () => {
  fixture = await httpFixture();
  [laptop, phone] = [new BrowserSession(fixture.app), new BrowserSession(fixture.app)];
  expect((await laptop.call('POST', 'sign-up', ada)).statusCode).toBe(201);
  expect((await phone.call('POST', 'sign-in', ada)).statusCode).toBe(200);
});

const list = async (browser: BrowserSession) => (await browser.call('GET', 'sessions')).json().data;
const isSignedIn = async (browser: BrowserSession) => (await browser.call('GET', 'session')).json().signed_in;

it('lists the sessions of the person, and says which one asks; no token is in the list', async () => {
  const answer = await laptop.call('GET', 'sessions');
  expect(answer.json()).toMatchObject({ object: 'list', data: [{ object: 'session' }, { object: 'session' }] });
  expect((await list(laptop)).map(({ current }: { current: boolean }) => current).sort()).toEqual([false, true]);
  const [ofLaptop, ofPhone] = [await list(laptop), await list(phone)].map((all) =>
    all.find(({ current }: { current: boolean }) => current),
  );
  expect(ofLaptop.id).not.toBe(ofPhone.id);
  expect(Object.keys(ofLaptop).sort()).toEqual(
    ['object', 'id', 'current', 'opened_by', 'user_agent', 'created_at', 'last_used_at', 'expires_at'].sort(),
  );
});

it('ends another session for its next call, and is recorded', async () => {
  const other = (await list(laptop)).find(({ current }: { current: boolean }) => !current);
  expect((await laptop.call('DELETE', `sessions/${other.id}`)).statusCode).toBe(204);
  expect([await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([false, true]);
  expect(await list(laptop)).toHaveLength(1);
  expect((await fixture.store.audit.list(10)).map(({ action }) => action)).toContain('session.end');
});

it('ends all others at once, and keeps the one that asks', async () => {
  const tablet = new BrowserSession(fixture.app);
  await tablet.call('POST', 'sign-in', ada);
  expect((await laptop.call('DELETE', 'sessions')).json()).toEqual({ ended: 2 });
  expect(await Promise.all([laptop, phone, tablet].map(isSignedIn))).toEqual([true, false, false]);
});

it('404 for a session of somebody else, which stays', async () => {
  const eve = new BrowserSession(fixture.app);
  await eve.call('POST', 'sign-up', { email: 'eve@example.com', password: ada.password });
  const [session] = await list(laptop);
  const answer = await eve.call('DELETE', `sessions/${session.id}`);
  expect([answer.statusCode, answer.json().error.code]).toEqual([404, 'not_found']);
  expect(await list(laptop)).toHaveLength(2);
});
