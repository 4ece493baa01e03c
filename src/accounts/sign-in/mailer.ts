/** Sends mail through the SMTP server of the configuration. */
import { isLoopbackHost } from '../../base/ip-address.js';
import type { MailSettings } from '../../config/config.js';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface Mailer {
  /** Resolves when the server has accepted the mail. */
  send(mail: Mail): Promise<void>;
}

const connectMs = 15_000;
const silentMs = 30_000;

export function smtpMailer({ smtpUrl, from }: MailSettings): Mailer {
  return {
    async send(mail) {
      // Loaded with the first mail, because few gateways send any.
      const { createTransport } = await import('nodemailer');
      const transport = createTransport(connectionOptions(smtpUrl));
      try {
        // Out-of-office replies are not sent to mails that are marked so.
        await transport.sendMail({ ...mail, from, headers: { 'Auto-Submitted': 'auto-generated' } });
      } finally {
        transport.close();
      }
    },
  };
}

/** Exported for the test of who gets a mail or a password unencrypted: nobody on another machine. */
export function connectionOptions(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocal = isLoopbackHost(host);
  const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    ...{ host, port: Number(port) || (secure ? 465 : 587), secure },
    ...(username !== '' && { auth }),
    // A mail server on this machine often has a certificate that nobody signed, and nothing in between can read along.
    ignoreTLS: !secure && isLocal,
    // A mail with a link that resets a password is as secret as the password of the mail server.
    requireTLS: !secure && !isLocal,
    ...{ connectionTimeout: connectMs, greetingTimeout: connectMs, socketTimeout: silentMs },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  };
}
