/** The state of a conversation: its turns, the arriving answer, and the last receipt. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { type ChatRequest, type ChatResult, chat } from './chat-stream.js';

export interface Turn {
  id: number;
  role: 'user' | 'assistant';
  content: string;
  /** Set if the answer failed or is incomplete. */
  failure?: unknown;
  stopped?: boolean;
}

export type Settings = Omit<ChatRequest, 'messages'> & { system: string };

let lastTurn = 0;

export function useConversation() {
  const [turns, setTurns] = useState<Turn[]>([]);
  const [result, setResult] = useState<ChatResult | null>(null);
  const [busy, setBusy] = useState(false);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  const sendMessage = useCallback(
    async (message: string, { system, ...settings }: Settings) => {
      const question: Turn = { id: ++lastTurn, role: 'user', content: message };
      const answer: Turn = { id: ++lastTurn, role: 'assistant', content: '' };
      const change = (fields: (turn: Turn) => Partial<Turn>) =>
        setTurns((all) => all.map((turn) => (turn.id === answer.id ? { ...turn, ...fields(turn) } : turn)));
      // Questions whose answer failed are not sent again.
      const answered = turns.filter((turn, index) => !turn.failure && !turns[index + 1]?.failure);
      const messages = [
        ...(system.trim() ? [{ role: 'system', content: system }] : []),
        ...[...answered, question].map(({ role, content }) => ({ role, content })),
      ];
      const controller = new AbortController();
      abort.current = controller;
      setTurns([...turns, question, answer]);
      setResult(null);
      setBusy(true);
      try {
        const onText = (text: string) => change((turn) => ({ content: turn.content + text }));
        const done = await chat({ ...settings, messages }, { signal: controller.signal, onText });
        setResult(done);
        if (done.streamError) change(() => ({ failure: new Error(done.streamError ?? '') }));
      } catch (failure) {
        change(() => (controller.signal.aborted ? { stopped: true } : { failure }));
      } finally {
        setBusy(false);
      }
    },
    [turns],
  );
  const stop = useCallback(() => abort.current?.abort(), []);
  const clear = useCallback(() => {
    setTurns([]);
    setResult(null);
  }, []);
  return { turns, result, busy, send: sendMessage, stop, clear };
}
