/** Turns two-factor sign-in on and off: the secret as a picture and as text, its first code, and the recovery codes, once. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client.js';
import { sessionQuery, useChange } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ChangeForm } from '../../components/change-form.js';
import { CodeBlock } from '../../components/code-block.js';
import { CodeInput, PasswordInput } from '../../components/credential-inputs.js';
import { Notice, Skeleton } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useSession } from '../../layout/session-context.js';

const QrCode = lazy(() => import('./qr-code.js'));

interface Offer {
  secret: string;
  otpauth_url: string;
}

interface Confirmed {
  recovery_codes: string[];
  session: Session;
}

const stateKey = ['two-factor'];

export function TwoFactorCard() {
  const { two_factor: on, has_password: hasPassword } = useSession();
  const [offer, setOffer] = useState<Offer | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  return (
    <Card
      description="After the password, sign-in asks for a code of an app such as Aegis, 1Password or Google Authenticator."
      title="Two-factor sign-in"
    >
      {codes ? (
        <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />
      ) : on ? (
        <TurnOff />
      ) : !hasPassword ? (
        <p className="text-ink-2">Set a password first. Two-factor sign-in adds a code to it.</p>
      ) : offer ? (
        <Confirm
          offer={offer}
          onDone={(shown) => {
            setOffer(null);
            setCodes(shown);
          }}
        />
      ) : (
        <Begin onDone={setOffer} />
      )}
    </Card>
  );
}

function Begin({ onDone }: { onDone: (offer: Offer) => void }) {
  const { account } = useSession();
  const [password, setPassword] = useState('');
  const begin = useChange(() => api<Offer>('two-factor', { method: 'POST', body: { password } }), []);
  return (
    <ChangeForm
      action="Set up two-factor sign-in"
      button="start"
      change={begin}
      className="max-w-sm"
      onDone={onDone}
      params={['password']}
      username={account.email}
    >
      {(at) => <OwnPassword error={at('password')} onChange={setPassword} value={password} />}
    </ChangeForm>
  );
}

function Confirm({ offer, onDone }: { offer: Offer; onDone: (codes: string[]) => void }) {
  const [code, setCode] = useState('');
  const client = useQueryClient();
  const confirm = useChange(
    () => api<Confirmed>('two-factor/confirm', { method: 'POST', body: { code: code.trim() } }),
    [stateKey],
  );
  const done = ({ recovery_codes: codes, session }: Confirmed) => {
    client.setQueryData(sessionQuery.queryKey, session);
    onDone(codes);
  };
  return (
    <ChangeForm action="Turn on" button="start" change={confirm} className="max-w-sm" onDone={done} params={['code']}>
      {(at) => (
        <>
          <p className="text-ink-2">
            Scan this with your app, or enter the secret there. It is shown only now. Then enter the first code.
          </p>
          <Suspense fallback={<Skeleton className="size-48" />}>
            <QrCode label="QR code with the secret for your authenticator app" text={offer.otpauth_url} />
          </Suspense>
          <CodeBlock code={offer.secret} label="Secret" />
          <CodeInput autoFocus error={at('code')} isFirst onChange={setCode} value={code} />
        </>
      )}
    </ChangeForm>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <div className="flex max-w-sm flex-col gap-4">
      <Notice tone="warn">
        Two-factor sign-in is on, and all other sessions have ended. Keep these recovery codes in a safe place: each
        works once instead of a code of your app. They are shown only now.
      </Notice>
      <CodeBlock code={codes.join('\n')} label="Recovery codes" />
      <Button className="self-start" onClick={onDone}>
        I have saved them
      </Button>
    </div>
  );
}

function TurnOff() {
  const { account } = useSession();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const client = useQueryClient();
  const say = useToast();
  const { data } = useQuery({
    queryKey: stateKey,
    queryFn: () => api<{ recovery_codes_left: number }>('two-factor'),
  });
  const off = useChange(
    () => api<Session>('two-factor/off', { method: 'POST', body: { password, code: code.trim() } }),
    [],
  );
  const done = (session: Session) => {
    client.setQueryData(sessionQuery.queryKey, session);
    say('Two-factor sign-in is off.');
  };
  return (
    <ChangeForm
      action="Turn off"
      button="start"
      change={off}
      className="max-w-sm"
      onDone={done}
      params={['password', 'code']}
      username={account.email}
    >
      {(at) => (
        <>
          <p className="text-ink-2">
            Two-factor sign-in is on.{' '}
            {data && `Recovery codes left: ${data.recovery_codes_left}. Turn it off and on again for new ones.`}
          </p>
          <OwnPassword error={at('password')} onChange={setPassword} value={password} />
          <CodeInput error={at('code')} onChange={setCode} value={code} />
        </>
      )}
    </ChangeForm>
  );
}

function OwnPassword(field: { error: string | null; value: string; onChange: (value: string) => void }) {
  return <PasswordInput {...field} autoComplete="current-password" label="Your password" />;
}
