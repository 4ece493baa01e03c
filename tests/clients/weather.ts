/** The task that every client gets: a model that asks for the weather of two cities, one after the other, and then answers. */
import { expect } from 'vitest';
import type { DoorBench } from '../doors/door-gateway.js';
import { type ScriptedModel, type Step, scriptedModel } from './scripted-agent.js';

export const question = 'Wo regnet es?';
export const answer = 'In Köln und in Paris.';
export const weatherIn = (city: string) => `Regen in ${city}.`;
export const description = 'The weather of a city';
export const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};

const ask = (city: string) => [{ name: 'weather', input: { city } }];
const steps: readonly Step[] = [ask('Köln'), ask('Paris'), answer];

/** The routes of `door-gateway.ts`, by the API that their provider speaks. */
export const routes = {
  chat: { model: 'plain/acme/one/defra', server: 'plain' },
  messages: { model: 'claude/acme/one/defra', server: 'native' },
  responses: { model: 'respond/acme/one/defra', server: 'native' },
} as const;

export type Api = keyof typeof routes;

/** Lets the provider of a route work through the task. */
export function playWeather(bench: DoorBench, api: Api): ScriptedModel {
  const script = scriptedModel(api, steps);
  bench[routes[api].server].onRequest((call) => script.answer(call));
  return script;
}

/** Both results reached the provider under the ids of its calls. */
export function expectWeather({ results, turns }: ScriptedModel): void {
  expect(results).toEqual({
    call_0_0: expect.stringContaining(weatherIn('Köln')),
    call_1_0: expect.stringContaining(weatherIn('Paris')),
  });
  expect(turns).toBe(steps.length);
}
