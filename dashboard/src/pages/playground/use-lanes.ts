/** The state of the conversations: one lane for each model, all with the same questions. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { PlaygroundDoor } from './doors/door.js';
import { recoverReceipt } from './recover-receipt.js';
import { openCalls, type Picture, type PlaygroundRequest, repeatedTurns, type Turn } from './request.js';
import { type Outcome, sendRequest } from './send-request.js';

export const lanesMax = 3;

export interface Lane {
  id: number;
  model: string;
  turns: Turn[];
  outcome: Outcome | null;
  busy: boolean;
}

export type Prepared = Omit<PlaygroundRequest, 'model' | 'turns'>;

export interface Question {
  text: string;
  pictures: readonly Picture[];
}

let lastId = 0;
const newId = () => ++lastId;

export function newLane(model: string, turns: Turn[] = []): Lane {
  return {
    ...{ id: newId(), model, outcome: null, busy: false },
    turns: turns.map((turn) => ({ ...turn, id: newId() })),
  };
}

export function useLanes(first: Lane[]) {
  const [lanes, setLanes] = useState<Lane[]>(first);
  const aborts = useRef(new Map<number, AbortController>());
  useEffect(() => {
    const running = aborts.current;
    return () => {
      for (const controller of running.values()) controller.abort();
    };
  }, []);

  const change = useCallback(
    (id: number, fields: (lane: Lane) => Partial<Lane>) =>
      setLanes((all) => all.map((lane) => (lane.id === id ? { ...lane, ...fields(lane) } : lane))),
    [],
  );

  const ask = useCallback(
    async (lane: Lane, door: PlaygroundDoor, prepared: Prepared, asked: Turn[], stored: Turn[]) => {
      const answer: Turn = { id: newId(), role: 'assistant', content: '' };
      const update = (fields: Partial<Turn>) =>
        change(lane.id, ({ turns }) => ({
          turns: turns.map((turn) => (turn.id === answer.id ? { ...turn, ...fields } : turn)),
        }));
      const controller = new AbortController();
      aborts.current.set(lane.id, controller);
      change(lane.id, () => ({ turns: [...stored, answer], outcome: null, busy: true }));
      const request = { ...prepared, model: lane.model.trim(), turns: asked, stream: prepared.stream && door.streams };
      const { outcome, failure } = await sendRequest(door, request, {
        signal: controller.signal,
        onAnswer: ({ text, reasoning, calls }) =>
          update({
            content: text,
            ...(reasoning !== '' && { reasoning }),
            ...(calls.length > 0 && { toolCalls: calls }),
          }),
      });
      if (failure) update({ failure });
      else if (controller.signal.aborted) update({ stopped: true });
      change(lane.id, () => ({ outcome, busy: false }));
      if (outcome?.usage !== null || outcome === null) return;
      const recovered = await recoverReceipt(outcome);
      // A newer request of the lane has an outcome of its own.
      if (recovered) change(lane.id, (now) => (now.outcome === outcome ? { outcome: recovered } : {}));
    },
    [change],
  );

  const send = useCallback(
    (door: PlaygroundDoor, prepared: Prepared, { text, pictures }: Question) => {
      for (const lane of lanes) {
        const question: Turn = { id: newId(), role: 'user', content: text, ...(pictures.length > 0 && { pictures }) };
        const stored = [...lane.turns, question];
        void ask(lane, door, prepared, repeatedTurns(stored), stored);
      }
    },
    [lanes, ask],
  );

  /** Sends what the reader entered as the results of the last tool calls. */
  const sendResults = useCallback(
    (lane: Lane, door: PlaygroundDoor, prepared: Prepared) =>
      void ask(lane, door, prepared, repeatedTurns(lane.turns), lane.turns),
    [ask],
  );

  /** Sends the last question once more, in place of its failed answer. */
  const retry = useCallback(
    (lane: Lane, door: PlaygroundDoor, prepared: Prepared) => {
      const stored = lane.turns.slice(0, -1);
      void ask(lane, door, prepared, repeatedTurns(stored), stored);
    },
    [ask],
  );

  const setResult = useCallback(
    (laneId: number, callId: string, result: string) =>
      change(laneId, ({ turns }) => ({
        turns: turns.map((turn, index) =>
          index === turns.length - 1 && turn.toolCalls
            ? { ...turn, toolCalls: turn.toolCalls.map((call) => (call.id === callId ? { ...call, result } : call)) }
            : turn,
        ),
      })),
    [change],
  );

  return {
    lanes,
    busy: lanes.some(({ busy }) => busy),
    /** A lane waits for the results of tool calls. */
    waits: lanes.some(({ turns }) => openCalls(turns).length > 0),
    send,
    sendResults,
    retry,
    setResult,
    stop: useCallback(() => {
      for (const controller of aborts.current.values()) controller.abort();
    }, []),
    setModel: useCallback((id: number, model: string) => change(id, () => ({ model })), [change]),
    add: useCallback(
      (model: string) => setLanes((all) => (all.length < lanesMax ? [...all, newLane(model)] : all)),
      [],
    ),
    remove: useCallback((id: number) => {
      aborts.current.get(id)?.abort();
      setLanes((all) => all.filter((lane) => lane.id !== id));
    }, []),
    replace: setLanes,
  };
}
