/** Short messages after an action. They are announced to screen readers and disappear by themselves. */
import { Close, Description, Provider, Root, Viewport } from '@radix-ui/react-toast';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { classNames } from './class-names.js';
import { AlertIcon, CheckIcon, CloseIcon } from './icons.js';

interface Message {
  id: number;
  text: string;
  tone: 'good' | 'danger';
}

type Say = (text: string, tone?: Message['tone']) => void;

const ToastContext = createContext<Say>(() => undefined);

export const useToast = () => useContext(ToastContext);

let lastId = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [messages, setMessages] = useState<Message[]>([]);
  const say = useCallback<Say>((text, tone = 'good') => {
    setMessages((shown) => [...shown.slice(-2), { id: ++lastId, text, tone }]);
  }, []);
  const forget = (id: number) => setMessages((shown) => shown.filter((message) => message.id !== id));

  return (
    <ToastContext value={say}>
      <Provider duration={5000} label="Notification">
        {children}
        {messages.map(({ id, text, tone }) => (
          <Root
            className="animate-rise flex items-center gap-2.5 rounded-lg border border-line bg-surface py-2 pr-2 pl-3.5 text-ink shadow-pop"
            key={id}
            onOpenChange={(open) => !open && forget(id)}
          >
            <span className={classNames('shrink-0', tone === 'good' ? 'text-good' : 'text-danger')}>
              {tone === 'good' ? <CheckIcon className="size-4" /> : <AlertIcon className="size-4" />}
            </span>
            <Description className="grow">{text}</Description>
            <Close
              aria-label="Dismiss"
              className="inline-flex size-7 items-center justify-center rounded-md text-ink-3 hover:bg-sunken hover:text-ink"
            >
              <CloseIcon className="size-3.5" />
            </Close>
          </Root>
        ))}
        <Viewport className="fixed right-4 bottom-4 z-50 flex w-[calc(100vw-2rem)] max-w-sm flex-col gap-2" />
      </Provider>
    </ToastContext>
  );
}
