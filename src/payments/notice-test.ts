/** Sends a test of the notices: a mail to whoever asks for it, or a call of the webhook, signed as every other. */
import { timeOrderedId } from '../base/ids.js';
import type { Clock } from '../base/time.js';
import type { NoticeMail } from './notice-text.js';

/** How a test call of the webhook ended. */
interface WebhookTest {
  /** null where there was no answer. */
  readonly status: number | null;
  /** What went wrong without an answer. */
  readonly fault: string | null;
}

interface NoticeTestDeps {
  /** null without a webhook. */
  webhook: { readonly host: string; send(id: string, body: string, nowMs: number): Promise<number> } | null;
  /** null where mail is not set up. */
  mail: ((mail: NoticeMail) => Promise<void>) | null;
  clock: Pick<Clock, 'now'>;
}

const testText = 'This is a test of the notices of your gateway. Nothing has happened.';

export class NoticeTests {
  constructor(private readonly deps: NoticeTestDeps) {}

  /** null without a webhook. */
  get webhookHost(): string | null {
    return this.deps.webhook?.host ?? null;
  }

  get sendsMail(): boolean {
    return this.deps.mail !== null;
  }

  /** What went wrong; null where the mail server has accepted it. */
  async mail(to: string): Promise<string | null> {
    try {
      await this.deps.mail?.({ to, subject: 'A test of the notices', text: `${testText}\n` });
      return null;
    } catch (error) {
      return faultOf(error);
    }
  }

  async callWebhook(): Promise<WebhookTest> {
    const { webhook, clock } = this.deps;
    const nowMs = clock.now();
    const id = `ntt-${timeOrderedId(nowMs)}`;
    const body = { id, type: 'notice.test', timestamp: new Date(nowMs).toISOString(), data: { message: testText } };
    try {
      return { status: (await webhook?.send(id, JSON.stringify(body), nowMs)) ?? null, fault: null };
    } catch (error) {
      return { status: null, fault: faultOf(error) };
    }
  }
}

/** Without the address, which may hold a secret. */
function faultOf(error: unknown): string {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  if (typeof responseCode === 'number') return `the mail server answered ${responseCode}`;
  return typeof code === 'string' ? code : 'no answer';
}
