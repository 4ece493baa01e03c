/** The account menu: email, theme, settings, documentation, sign out. A native popover, which Escape or a click outside closes. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useId, useRef, useState } from 'react';
import { api } from '../api/client.js';
import { beginSession, useChange } from '../api/queries.js';
import type { AccountChoice, Session } from '../api/types.js';
import { classNames } from '../components/class-names.js';
import {
  AccountsIcon,
  BookIcon,
  HealthIcon,
  type Icon,
  MoonIcon,
  SelectIcon,
  SignOutIcon,
  SunIcon,
  SystemIcon,
} from '../components/icons.js';
import { clearHistory } from '../pages/playground/history.js';
import { useSession } from './session-context.js';
import { SignOutDialog } from './sign-out-dialog.js';
import { chooseTheme, type Theme, useTheme } from './theme.js';

const itemClass =
  'flex h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-left text-ink-2 hover:bg-sunken hover:text-ink pointer-coarse:h-11';

/** Who is signed in. Without an account, it is the session that has a name. */
function useSignedIn(): string {
  const { account, hasAccount, person } = useSession();
  return hasAccount ? person.email : account.email;
}

export function AccountMenu() {
  const signedIn = useSignedIn();
  const { account, docs_url: docsUrl, status_url: statusUrl, ...session } = useSession();
  const id = useId();
  const menu = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const signOut = useChange(async () => {
    await api('sign-out', { method: 'POST', body: {} });
    clearHistory();
    beginSession(await api<Session>('session'));
    await navigate({ to: '/sign-in' });
  }, []);
  const close = () => menu.current?.hidePopover();
  const [asksForPassword, setAsksForPassword] = useState(false);
  const leave = () => {
    close();
    // Only somebody who signs in with a password needs one.
    if (session.has_password || session.opened_by !== 'password') signOut.mutate(undefined);
    else setAsksForPassword(true);
  };

  return (
    <>
      <button
        className="flex h-10 min-w-0 items-center gap-2.5 rounded-md px-1.5 text-left hover:bg-sunken lg:w-full"
        popoverTarget={id}
        type="button"
      >
        <span
          aria-hidden="true"
          className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-sm font-semibold text-accent uppercase"
        >
          {signedIn.slice(0, 1)}
        </span>
        <span className="sr-only">Account menu</span>
        <span className="min-w-0 grow truncate text-sm text-ink-2 max-lg:hidden">{signedIn}</span>
        <SelectIcon className="size-4 shrink-0 text-ink-3 max-lg:hidden" />
      </button>
      <div
        className="animate-rise fixed inset-auto m-0 w-64 rounded-lg border border-line bg-surface p-1.5 text-ink shadow-pop max-lg:top-14 max-lg:right-3 lg:bottom-16 lg:left-3"
        id={id}
        popover="auto"
        ref={menu}
      >
        <div className="px-2.5 pt-1.5 pb-2">
          <p className="truncate font-medium">{account.name ?? account.email}</p>
          <p className="truncate text-sm text-ink-3">
            {session.demo && account.email === signedIn ? 'Demo account' : signedIn}
            {session.operator && ' · operator'}
          </p>
        </div>
        {session.accounts.length > 1 && <AccountSwitcher accounts={session.accounts} current={account.id} />}
        <ThemeChoice />
        <Link className={itemClass} onClick={close} to="/account">
          <AccountsIcon className="size-4" />
          Account and password
        </Link>
        <a className={itemClass} href={docsUrl}>
          <BookIcon className="size-4" />
          Documentation
        </a>
        {statusUrl && (
          <a className={itemClass} href={statusUrl}>
            <HealthIcon className="size-4" />
            Status of the routes
          </a>
        )}
        <button className={itemClass} disabled={signOut.isPending} onClick={leave} type="button">
          <SignOutIcon className="size-4" />
          Sign out
        </button>
      </div>
      <SignOutDialog
        onClose={() => setAsksForPassword(false)}
        onSignOut={() => signOut.mutate(undefined)}
        open={asksForPassword}
      />
    </>
  );
}

/** The accounts that the person is a member of. The gateway remembers the one that was chosen last. */
function AccountSwitcher({ accounts, current }: { accounts: AccountChoice[]; current: string }) {
  const navigate = useNavigate();
  const change = useChange(async (id: string) => {
    clearHistory();
    beginSession(await api<Session>('session', { account: id }));
    await navigate({ to: '/' });
  }, []);
  return (
    <fieldset className="mb-1 max-h-60 overflow-y-auto border-t border-line pt-1.5">
      <legend className="sr-only">Account</legend>
      {accounts.map(({ id, name, email, role }) => (
        <button
          aria-current={id === current}
          className={classNames(itemClass, id === current && 'font-medium text-ink!')}
          disabled={change.isPending || id === current}
          key={id}
          onClick={() => change.mutate(id)}
          type="button"
        >
          <span className="min-w-0 grow truncate">{name ?? email}</span>
          <span className="shrink-0 text-sm text-ink-3">{role}</span>
        </button>
      ))}
    </fieldset>
  );
}

const themes: { value: Theme; label: string; icon: Icon }[] = [
  { value: 'system', label: 'System', icon: SystemIcon },
  { value: 'light', label: 'Light', icon: SunIcon },
  { value: 'dark', label: 'Dark', icon: MoonIcon },
];

function ThemeChoice() {
  const theme = useTheme();
  const name = useId();
  return (
    <fieldset className="mb-1 grid grid-cols-3 border-y border-line py-1.5">
      <legend className="sr-only">Theme</legend>
      {themes.map(({ value, label, icon: Glyph }) => (
        <label
          className={classNames(
            'flex h-8 items-center justify-center gap-1.5 rounded-md text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:h-10',
            value === theme ? 'bg-sunken font-medium text-ink' : 'cursor-pointer text-ink-2 hover:text-ink',
          )}
          key={value}
        >
          <input
            checked={value === theme}
            className="sr-only"
            name={name}
            onChange={() => chooseTheme(value)}
            type="radio"
          />
          <Glyph className="size-4" />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
